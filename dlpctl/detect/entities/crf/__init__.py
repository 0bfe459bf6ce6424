"""A linear-chain tagger in pure Python over a memory-mapped file: from words to label
probabilities.
"""
