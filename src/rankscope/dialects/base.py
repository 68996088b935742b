"""A dialect: another tool's numbers as metrics of ours, with every convention named."""

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
    """What a number depends on beyond the metric's own parameters.

    ``ties``: how equal scores are ordered. ``queries``: which queries are averaged: all judged ones, all of
    the run, those judged and in every run, those that are either, or a list of them. ``no_relevant``: the value of a query
    without any relevant document, "metric" leaves it as the metric says; ``looks_at`` says where one is missed,
    in the judgments or already in the list that was returned (a metric made of the list alone looks there anyway). ``nothing_found``: "skip" leaves out a query with nothing relevant in the top k,
    "skip_list" one with nothing relevant in the whole list. ``mean``: "micro" divides what all queries earn by what all are worth.
    """

    ties: Ties = "trec"
    queries: Population = "judged"
    no_relevant: NoRelevant = "metric"
    nothing_found: NothingFound = "metric"
    looks_at: LooksAt = "judgments"
    mean: Mean = "macro"


@dataclass(frozen=True)
class Says:
    """One metric in a dialect: our spelling of it without the cutoff, and the conventions in which it differs.

    ``because`` is the reason in a few words, after "their": "ideal stops at the number of documents returned".
    ``defect`` says what is wrong with the tool's number where it follows from no convention; such a number is
    never computed as ours. ``cut`` is what holds instead where a cutoff is asked for, of a tool that computes
    ``RR`` and ``RR@10`` in two places. ``squared`` names a parameter that the tool takes squared.
    """

    metric: str
    because: str = ""
    differs: Mapping[str, Any] = field(default_factory=dict)
    defect: str = ""
    cut: Says | None = None
    squared: str = ""


@dataclass(frozen=True)
class Dialect:
    """Another tool: what it calls itself, its conventions, and its metrics by our name for the family.

    ``metrics`` maps the name of a metric class (``nDCG``, ``AP``) to what the tool computes under that name.
    ``about`` is one line for people who wonder whether it is the tool they use; ``version`` the release
    that the conventions were checked against, empty where only its source or documents were read. A tool that
    takes ``whole_grades`` alone refuses or cuts off fractions, so they have no number in its dialect.
    """

    name: str
    tool: str
    about: str
    metrics: Mapping[str, Says]
    version: str = ""
    convention: Convention = Convention()
    whole_grades: bool = False

    def says(self, family: str, *, cut: bool = False) -> Says | None:
        """What the tool computes under the name of a metric, ``cut`` where it has a cutoff; None where it has no such metric."""
        found = self.metrics.get(family)
        return found.cut if found is not None and found.cut is not None and cut else found

    def of(self, family: str, *, cut: bool = False) -> Convention:
        """The conventions for one metric, ``cut`` where it has a cutoff."""
        said = self.says(family, cut=cut)
        return replace(self.convention, **said.differs) if said is not None else self.convention
