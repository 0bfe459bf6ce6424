"""The use cases for files: check one, mask one, find in one. What `dlpctl.preflight` does for a
text, for every format.
"""
