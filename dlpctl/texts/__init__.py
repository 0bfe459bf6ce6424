"""Texts as every reader of them needs them: decoding, rows, and searches for many strings."""
