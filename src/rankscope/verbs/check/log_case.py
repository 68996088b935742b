"""Everything a rule of logs may look at: the log, what is wrong with it, and what the caller states about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from rankscope.impressions import Log
from rankscope.logs.health import LogHealth, examine
from rankscope.tables import Source


@dataclass(frozen=True, eq=False)
class LogCase:
    """One call of ``check`` on a log. ``covariates`` are columns that are said to be measured before the start."""

    log: Log
    covariates: Sequence[str] = ()

    of: ClassVar[str] = "log"
    conventions: ClassVar[Mapping[str, Any]] = {}

    @cached_property
    def health(self) -> LogHealth:
        """What is wrong with the log, all of it looked at."""
        return examine(self.log, whole=True, covariates=self.covariates)

    @property
    def sources(self) -> list[Source]:
        """Where the log came from."""
        return [self.log.source]

    @property
    def data_health(self) -> dict[str, Any]:
        """How many rows there are, and how many each code is about."""
        return {self.log.label: self.health.as_dict()}
