"""A linear-chain tagger in pure Python over a memory-mapped file: words in, label probabilities
out.
"""
