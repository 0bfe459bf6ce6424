"""Files that contain files: structures of ZIP and ISO images, and content in compressed streams.

The formats are modules of `dlpctl.formats`; this room has what several of them share.
"""
