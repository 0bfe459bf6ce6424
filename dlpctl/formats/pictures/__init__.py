"""Pictures: their types, metadata and codes, and the shapes painted over their words.

`dlpctl.formats.image` is the format; `dlpctl.formats.ocr` reads the words.
"""
