"""Confirm hits: the exact match, its validators, and the score that its context gives it."""
