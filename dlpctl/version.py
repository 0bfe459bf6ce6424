"""The version of dlpctl, which any module may import."""

__version__ = "0.1.0"
