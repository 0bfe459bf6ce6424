"""Policies: the decision what may leave. Nothing here knows how findings are found or masked."""
