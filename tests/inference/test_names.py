"""The names that help lists are those of the catalogues, which take numpy to fill."""

from __future__ import annotations

from typing import Any

import pytest

from rankscope.inference import NAMES
from rankscope.inference.base import Correction, Interval, PairedTest
from rankscope.panels.method import find_method


@pytest.mark.parametrize("kind", [Interval, PairedTest, Correction])
def test_names_are_those_of_the_catalogue(kind: Any) -> None:
    usual, *others = NAMES[kind.kind]
    find_method(kind, usual)
    ours = {cls.__name__ for cls in kind.catalogue.values() if cls.__module__.startswith("rankscope.")}
    assert {usual, *others} == ours
    assert others == sorted(others)
