"""Tables: `classify` tells what each column is, and `mask` replaces what must not be shown.

    from dlpctl import frames

    frames.classify(customers)["contact"].type        # "EMAIL"
    frames.mask(customers, "VENDOR")                  # a frame of the same library and types

It needs the extra `dlpctl[frames]`.
"""

from dlpctl.frames.core import TableMasker, classify, mask
from dlpctl.frames.duck import register
from dlpctl.frames.report import Classification, ColumnReport

__all__ = ("Classification", "ColumnReport", "TableMasker", "classify", "mask", "register")
