"""Child processes: starting, limiting, confining, feeding, timing and ending them, and the declared
schemas of their messages. Every process of dlpctl uses this package.
"""
