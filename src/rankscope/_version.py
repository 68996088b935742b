"""The version of rankscope, said here alone."""

__version__ = "0.1.0"
