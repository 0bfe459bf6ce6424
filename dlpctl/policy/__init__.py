"""Policies: the decision on what may leave, independent of how values are found and masked."""
