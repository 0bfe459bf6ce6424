"""File formats: read a file into texts, and write a copy with edits.

A format is a module or package with `FORMAT` or `FORMATS`, registered by being there; `interface`
says what it gives and takes. The other modules and rooms are what formats share. A format knows no
patterns and no policy, and refuses what it cannot read with certainty.
"""
