"""Measurements of the library for `dlpctl patterns stats`: recall of planted values, and findings
in clean text.
"""
