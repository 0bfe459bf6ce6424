"""Data-loss-prevention preflight: find, decide, mask, before content leaves."""

__version__ = "0.1.0"
