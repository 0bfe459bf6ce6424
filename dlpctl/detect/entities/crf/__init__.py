"""A linear-chain tagger in pure Python over one memory-mapped file: words in, label probabilities
out.
"""
