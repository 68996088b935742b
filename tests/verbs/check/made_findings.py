"""What the tests of rules share: a small clean case, and the findings of one rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rankscope as rs
from rankscope.diagnostics.rule import Finding

QUERIES = [f"q{i}" for i in range(10)]
QRELS = {q: {"a": 2, "b": 1, "c": 0, "d": 0} for q in QUERIES}
RUN = {q: {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0} for q in QUERIES}


def finder(usual: Any) -> Callable[..., list[Finding]]:
    """A function that gives the findings of the rule with a code, on metrics that are ``usual`` unless others are named."""

    def of(code: str, qrels: Any, run: Any, metrics: Any = usual, **options: Any) -> list[Finding]:
        return list(rs.check(qrels, run, metrics, select=[code], **options))

    return of
