"""The gateway between applications and models: requests are masked, and answers restored.

The protocol of a provider is a module of `protocols`; all else is the same for every provider.
"""
