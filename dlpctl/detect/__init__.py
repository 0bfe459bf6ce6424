"""Detection: find sensitive values in text."""
