"""Confirm trigger matches: the exact match, its validators, and its score in context."""
