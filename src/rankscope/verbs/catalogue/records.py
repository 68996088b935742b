"""The catalogue of metrics as plain records, for other programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rankscope._version import __version__
from rankscope.declared import parameters, required
from rankscope.metrics import Metric
from rankscope.verbs.catalogue.catalogue import default_of, rewards, takes, trec_names, usual, value_of


def envelope(classes: Sequence[type[Metric]]) -> dict[str, Any]:
    """The catalogue, or a part of it, for other programs."""
    return {
        "schema": "rankscope/metrics/1",
        "rankscope": __version__,
        "metrics": [_record(cls) for cls in classes],
    }


def _record(cls: type[Metric]) -> dict[str, Any]:
    m = usual(cls)
    return {
        "name": cls.__name__,
        "family": cls.__module__.rpartition(".")[2],
        "rewards": rewards(cls),
        "formula": cls.formula,
        "convention": cls.convention,
        "best_for": cls.best_for,
        "relevance": m.relevance,
        "positions": m.positions,
        "counts": m.counts,
        "better": m.better,
        "range": [value if math.isfinite(value) else None for value in m.range],
        "aggregate": m.aggregate,
        "empty": m.empty,
        "parameters": [_parameter(cls, name) for name in parameters(cls)],
        "examples": [
            {
                "metric": example.metric,
                "grades": list(example.grades),
                **(example.more or {}),
                "arithmetic": example.value,
                "value": value_of(example),
            }
            for example in cls.examples
        ],
        "trec_eval": trec_names(cls),
        "source": cls.source,
        "aliases": list(cls.aliases),
    }


def _parameter(cls: type[Metric], name: str) -> dict[str, Any]:
    param = parameters(cls)[name][1]
    needed = name in required(cls)
    low = param.above if param.above > -math.inf else param.low
    return {
        "name": name,
        "about": param.about,
        "takes": takes(cls, name),
        "required": needed,
        "default": None if needed else default_of(cls, name),
        "low": low if math.isfinite(low) else None,
        "low_excluded": param.above > -math.inf,
        "high": param.high if math.isfinite(param.high) else None,
        "aliases": list(param.also),
    }
