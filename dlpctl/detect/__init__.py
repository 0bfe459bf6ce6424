"""Detection: find sensitive values in text.

A text passes `automaton` (which patterns may match), `confirm` (exact matches and their scores),
`derived` (decoded text, table cells), `entities` (names, addresses) and `resolve` (which finding
wins). This package knows no policy and no file; a pattern is a table in `patterns/`, not code here.
"""
