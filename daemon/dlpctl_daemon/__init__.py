"""The local HTTP service of dlpctl."""
