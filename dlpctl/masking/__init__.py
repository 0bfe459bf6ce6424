"""From spans to masked text, independent of how values are found and what the policy says.

The replacement of one value is an operator, see `dlpctl.operators`. `rounds` is the one loop that
masks until nothing is left, for texts, files and tables.
"""
