"""Operations on files of every format: check a file, mask a file, find values in a file.

Formats read and write; this package decides, masks, and verifies the copy with `masking.rounds`.
"""
