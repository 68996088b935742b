"""The sections of a page, a module each."""
