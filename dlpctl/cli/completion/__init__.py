"""Shell completion: the answers of `dlpctl __complete`, and the scripts that call it."""
