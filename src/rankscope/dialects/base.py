"""A dialect: another tool's metrics as metrics of ours, with every convention named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Ties = Literal["trec", "docid", "input", "rank", "expected", "best", "worst"]
Population = Literal["judged", "run", "both", "either", "list"]
NoRelevant = Literal["metric", 0, 1, "skip"]
NothingFound = Literal["metric", "skip", "skip_list"]
LooksAt = Literal["judgments", "list"]
Mean = Literal["macro", "micro"]


@dataclass(frozen=True, kw_only=True)
class Convention:
    """The conventions behind a number, in addition to the metric's parameters.

    ``ties``: the order of equal scores. ``queries``: the averaged queries: all judged ones, all of the run, judged ones in every
    run, either, or a list. ``no_relevant``: the value of a query without a relevant document ("metric": the metric's own).
    ``looks_at``: if it must be missing in the judgments or in the returned list. ``nothing_found``: "skip" leaves out queries without a
    relevant document in the top k, "skip_list" in the whole list. ``mean``: "micro" divides the earnings of all queries by their worth.
    """

    ties: Ties = "trec"
    queries: Population = "judged"
    no_relevant: NoRelevant = "metric"
    nothing_found: NothingFound = "metric"
    looks_at: LooksAt = "judgments"
    mean: Mean = "macro"


@dataclass(frozen=True)
class DialectMetric:
    """One metric in a dialect: our spelling without the cutoff, its conventions and the reason ``because``. A ``defect`` is never computed, ``cut`` replaces the entry if there is a cutoff, and ``squared`` names a squared parameter."""

    metric: str
    because: str = ""
    differs: Mapping[str, Any] = field(default_factory=dict)
    defect: str = ""
    cut: DialectMetric | None = None
    squared: str = ""


@dataclass(frozen=True)
class Dialect:
    """Another tool: its name, its conventions, and its metrics by our names.

    ``metrics`` maps the name of a metric class (``nDCG``, ``AP``) to the tool's metric of that name. ``about`` describes the tool in
    one line. ``version`` is the release that the conventions were checked against, empty if only its source or documents were
    read. A tool with ``whole_grades`` refuses or truncates fractions, which have no value in its dialect. ``names`` maps its own names
    to metrics of ours if we read them in another way. ``caution`` is printed next to its name. ``contexts`` maps its measures of retrieved
    contexts to those of ``rankscope contexts``.
    """

    name: str
    tool: str
    about: str
    metrics: Mapping[str, DialectMetric]
    version: str = ""
    convention: Convention = Convention()
    whole_grades: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    caution: str = ""
    contexts: Mapping[str, DialectMetric] = field(default_factory=dict)

    def metric(self, family: str, *, cut: bool = False) -> DialectMetric | None:
        """The tool's metric of this name, with a cutoff if ``cut``, or None."""
        entry = self.metrics.get(family)
        return entry.cut if entry is not None and entry.cut is not None and cut else entry

    def of(self, family: str, *, cut: bool = False) -> Convention:
        """The conventions for one metric, with a cutoff if ``cut``."""
        entry = self.metric(family, cut=cut)
        return self.convention if entry is None else replace(self.convention, **entry.differs)
