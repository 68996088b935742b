"""Importing the optional packages that draw charts and pages."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from rankscope.errors import MissingExtraError

LACKING = "charts and pages need altair, jinja2, platformdirs and vl-convert-python: pip install 'rankscope[report]'"

STRIPPED = "python -OO (PYTHONOPTIMIZE=2)"  # which drops the docstrings that altair reads


def import_extra(module: str) -> Any:
    """A module of the extra ``report``: ``import_extra("altair")``."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(LACKING) from None
    except AttributeError:
        if sys.flags.optimize < 2:
            raise
        raise MissingExtraError(f"charts and pages: {module} does not work under {STRIPPED}: run without it") from None


def check_installed(charts: bool = True) -> None:
    """Refuse, before any work, to make a page without the packages that draw it, and its ``charts`` if it has any."""
    import_extra("jinja2")
    if charts:
        for module in ("altair", "platformdirs", "vl_convert"):
            import_extra(module)
