"""The checks of `dlpctl doctor`: to add one, yield its verdict in the module of its subject."""
