"""Measures of the library for `dlpctl patterns stats`: recall of planted values, findings in clean
text.
"""
