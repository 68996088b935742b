"""Look for what can make a number wrong: a linter for evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rankscope.files import qrels_of, run_of
from rankscope.scoring.inputs import distinct_names, label_of, named_runs, read_any
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import Request
from rankscope.show.notebook import InNotebook
from rankscope.tables import Source
from rankscope.verbs.check.rules import Finding, Rule, selected
from rankscope.verbs.check.rules.case import Case
from rankscope.verbs.check.rules.given import Given, Said
from rankscope.verbs.check.rules.stated import scale_of, texts_of


@dataclass(frozen=True, eq=False)
class Checked(InNotebook):
    """What ``check`` found: ``findings``, warnings first; the ``rules`` that were applied; the ``case`` they looked at.

    ``not_applied`` holds those that were chosen and need what was not stated, or are said by another verb.
    """

    shown_by: ClassVar[str] = "rankscope.verbs.check.result"

    findings: Sequence[Finding]
    rules: Sequence[Rule]
    case: Case
    not_applied: Sequence[Rule] = ()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def warnings(self) -> list[Finding]:
        """What should be dealt with before the numbers are trusted."""
        return [finding for finding in self.findings if finding.severity == "warning"]

    @property
    def sources(self) -> list[Source]:
        """Where the qrels and the runs came from."""
        return [self.case.qrels.table.source, *(run.table.source for run in self.case.runs)]

    @property
    def exit_code(self) -> int:
        """1 where a warning stands, 0 where there is none: information alone is no reason to stop."""
        return 1 if self.warnings else 0

    def __repr__(self) -> str:
        return "\n".join(f"{f.code} {f.severity}: {f.message}" for f in self.findings) or "no findings"


def check(  # noqa: PLR0913 - the options of the command line, each with its default
    qrels: Any,
    runs: Any,
    metrics: Any = None,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    scale: Any = None,
    train: Any = None,
    texts: Any = None,
    **policies: Any,
) -> Checked:
    """Look for what can make the numbers of these rankings wrong, unfair or misread, by rules with stable codes.

    Takes what ``evaluate`` takes, and reads what it refuses: malformed lines, repeated documents and NaN scores are listed all at
    once. ``select`` and ``ignore`` take codes or the start of a family's codes (``"RS101"``, ``"RS1"``). ``scale`` is the scale of
    the grades as it was meant (``"0-3"`` or a pair), ``train`` the interactions that a recommender was trained on (read like qrels),
    ``texts`` the texts of documents, ``{id: text}`` or a file. Conventions are those of ``evaluate``, given by the same names.

    Raises InputError for what cannot be read at all, for a rule that does not exist, and for wrong options.

    >>> import rankscope as rs
    >>> found = rs.check({"q1": {"a": 1}, "q2": {"a": 1, "b": 0}}, {"q1": {"a": 1.0}}, "RR", select=["RS101"])
    >>> [(f.code, f.severity, f.effect) for f in found], found.exit_code
    ([('RS101', 'warning', {'RR': -0.5})], 1)
    """
    chosen = selected(select, ignore)
    case = case_of(qrels, runs, metrics, Said(scale_of(scale), train, texts_of(texts)), policies)
    applied = [rule for rule in chosen if rule.applies(case)]
    found = [finding for rule in applied for finding in rule.find(case)]
    found.sort(key=lambda finding: (finding.severity != "warning", finding.code))
    return Checked(found, applied, case, [rule for rule in chosen if rule not in applied])


def case_of(qrels: Any, runs: Any, metrics: Any, said: Said, policies: Mapping[str, Any]) -> Case:
    """What the rules look at, read and named, nothing refused that could be read."""
    refuse_unknown(policies, "check")
    lenient = {} if policies.get("duplicates", "error") != "error" else {"duplicates": "first"}
    call = Request.of(metrics, {**policies, **lenient})
    grades = qrels_of(read_any("qrels", qrels))
    read = [(name, read_any("run", run, name)) for name, run in named_runs(runs)]
    labels = [label_of(data, name, number) for number, (name, data) in enumerate(read, start=1)]
    given = [Given(name, run_of(data)) for name, (_, data) in zip(distinct_names(labels), read, strict=True)]
    return Case(Given(grades.source.label, grades), given, call, said)
