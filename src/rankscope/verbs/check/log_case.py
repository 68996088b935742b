"""The data of one call of ``check`` on a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from rankscope.diagnostics.rule import Finding
from rankscope.impressions import Log
from rankscope.logs.health import LogHealth, examine
from rankscope.tables import Source


@dataclass(frozen=True, eq=False)
class LogCase:
    """One call of ``check`` on a log. ``covariates`` are columns measured before the start."""

    log: Log
    covariates: Sequence[str] = ()

    of: ClassVar[str] = "log"
    conventions: ClassVar[Mapping[str, Any]] = {}

    @cached_property
    def health(self) -> LogHealth:
        """The problems of the log, with all checks."""
        return examine(self.log, whole=True, covariates=self.covariates)

    def findings(self, code: str) -> list[Finding]:
        """Return the findings of a code; the log is not named, as there is only one."""
        name = f"{self.log.label}: "
        return [replace(fact, message=fact.message.removeprefix(name)) for fact in self.health.of(code)]

    @property
    def sources(self) -> list[Source]:
        """The source of the log."""
        return [self.log.source]

    @property
    def data_health(self) -> dict[str, Any]:
        """The number of rows, and of rows or groups per code."""
        return {self.log.label: self.health.as_dict()}
