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
