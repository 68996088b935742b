"""Importing the optional packages that draw charts and pages."""

from __future__ import annotations

import importlib
from typing import Any

from rankscope.errors import MissingExtraError

LACKING = "charts and pages need altair, jinja2 and vl-convert-python: pip install 'rankscope[report]'"


def import_extra(module: str) -> Any:
    """A module of the extra ``report``: ``import_extra("altair")``.

    Raises MissingExtraError, which says what to install, where it cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(LACKING) from error


def check_installed(charts: bool = True) -> None:
    """Refuse, before any work is done, to make a page without what makes it, and its ``charts`` where it has any."""
    import_extra("jinja2")
    if charts:
        import_extra("altair")
        import_extra("vl_convert")
