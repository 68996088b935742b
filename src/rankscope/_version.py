"""The version of rankscope, in a place of its own so that no room needs the face of the house for it."""

__version__ = "0.1.0"
