"""Policies: the decision on what may leave, independent of how values are found and masked.

`rules` is the data, `loading` reads it from tables, and `decide` is pure: findings in, decision
out. A built-in policy is a TOML file.
"""
