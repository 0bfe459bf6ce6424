"""Hooks of coding agents: events are inspected, values become tokens before a model sees them, and
tokens become values again where the agent writes files or shows text.
"""
