"""The version of the package, for modules that must not import the package's interface."""

__version__ = "0.1.0"
