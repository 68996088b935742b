"""What is compared, wherever it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankscope.inference.replicates import Replicates
from rankscope.panels.panel import Measured
from rankscope.scoring.scores import Scores


@dataclass(frozen=True, eq=False)
class Given:
    """What is compared: each metric over all systems, the primary metric first.

    ``curve`` holds the primary metric at other cutoffs, ``replicates`` the variances of systems that ran several times, by metric
    and system, and ``members`` the runs of each such system; ``scores`` is there where runs were evaluated.
    """

    fields: Sequence[Measured]
    scores: Scores | None = None
    curve: Sequence[Measured] = ()
    notes: Sequence[str] = ()
    replicates: Mapping[str, Mapping[str, Replicates]] = field(default_factory=dict)
    inputs: Sequence[Mapping[str, Any]] = ()
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
