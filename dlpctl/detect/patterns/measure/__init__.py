"""How much the library finds of what is planted, and how much in what is clean: `dlpctl patterns
stats`.
"""
