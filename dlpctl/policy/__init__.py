"""Policies: what may leave for whom. Nothing here knows how findings are found or masked."""
