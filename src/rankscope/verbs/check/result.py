"""The results of ``check``: findings, and the rules themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import EMPTY, Code, Facts, Paragraph
from rankscope.diagnostics.rule import Finding, Rule
from rankscope.show.result import MAX_WARNINGS_OF_A_KIND, Col, Result, Shown, View
from rankscope.words import by_caller, in_caller_syntax

PLACES = 3  # places that the table names; JSON has two more
SHORT = {"warning": "warning", "information": "info"}
CODE = Col("code", head="code", of=lambda pair: pair[0].code)


def _message(finding: Finding) -> str:
    if not finding.places:
        return finding.message
    places = finding.places[:PLACES]
    more = (finding.lists or finding.count or 0) - len(places)
    rest = f" · {words.count(more)} more" if more > 0 else ""
    return f"{finding.message}: {' · '.join(places)}{rest}"


def _grouped(findings: Sequence[Finding]) -> list[Finding]:
    """Return one finding for many of one kind about runs: the largest effect or count, with the number of the others."""
    out = []
    for _, group in groupby(findings, key=lambda f: (f.code, f.severity, f.run is None)):
        alike = list(group)
        if alike[0].run is None or len(alike) <= MAX_WARNINGS_OF_A_KIND:
            out += alike
            continue
        worst = max(alike, key=lambda f: (max(map(abs, f.effect.values()), default=0.0), f.count or 0))
        rest = f"(and {words.counted(len(alike) - 1, 'more run')} like it, which --format json lists)"
        out.append(replace(worst, message=in_caller_syntax(f"{worst.message} {rest}")))
    return out


def _why_not(rule: Rule, of: str = "") -> str:
    if of and rule.of != of:
        about_runs = "about judgments and runs: rankscope check QRELS RUN..."
        return "for a log: rankscope check LOG" if rule.of == "log" else about_runs
    needs = in_caller_syntax(f"needs --{rule.needs.replace('_', '-')}")
    return f"reported by {rule.other_verb}" if rule.other_verb else needs


@dataclass(frozen=True, eq=False, repr=False)
class Inspection(Result):
    """The ``findings`` of ``check``, warnings first, with the ``rules`` that were applied and the ``case``.

    ``not_applied`` holds selected rules that need a further input, or another command.
    """

    header: ClassVar[tuple[str, ...]] = ("conventions", "inputs", "data_health")
    schema: ClassVar[str] = "check/1"
    views: ClassVar[tuple[View, ...]] = (
        View(
            "findings",
            (
                Col("code", head="code"), Col("severity", head="severity", cell=lambda f: SHORT[f.severity]), Col("run"),
                Col("message", head="finding", cell=_message, wraps=True), Col("hint"), Col("count"),
                Col("effect", of=lambda f: dict(f.effect) or None), Col("queries", of=lambda f: list(f.queries) or None),
                Col("documents", of=lambda f: [{"query_id": q, "doc_id": d} for q, d in f.documents] or None),
                Col("places", of=lambda f: list(f.places) or None),
            ),
            lambda inspection: inspection.findings, labels=2,
        ),
        View(
            "rules",
            (
                CODE, Col("rule", head="rule", of=lambda pair: pair[0].name),
                Col("findings", head="findings", kind="count", of=lambda pair: pair[1]),
            ),
            lambda inspection: inspection.tallies,
            held=lambda _: False,  # in JSON these are the results
        ),
        View(
            "not_applied", (CODE, Col("reason", head="reason", of=lambda pair: _why_not(*pair))),
            lambda inspection: [(rule, inspection.case.of) for rule in inspection.not_applied],
        ),
    )  # fmt: skip

    findings: Sequence[Finding]
    rules: Sequence[Rule]
    case: Any  # a CheckCase or a LogCase
    not_applied: Sequence[Rule] = ()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def warnings(self) -> Sequence[Finding]:
        """The findings to deal with before trusting the numbers."""
        return [finding for finding in self.findings if finding.severity == "warning"]

    conventions = property(
        attrgetter("case.conventions"), doc="The policies of the numbers; empty if nothing could be scored."
    )
    inputs = property(attrgetter("case.sources"), doc="The files and tables that were checked.")
    data_health = property(attrgetter("case.data_health"), doc="The state of the data.")

    @property
    def notes(self) -> list[str]:
        """Notes of the readers of the files."""
        return [note for source in self.inputs for note in source.notes]

    @property
    def tallies(self) -> list[tuple[Rule, int]]:
        """The rules that were applied, each with the number of its findings."""
        number = Counter(finding.code for finding in self.findings)
        return [(rule, number[rule.code]) for rule in self.rules]

    @property
    def exit_code(self) -> int:
        """1 with a warning, 0 without."""
        return 1 if self.warnings else 0

    def json_document(self, **options: Any) -> dict[str, Any]:
        """All of the result: how many findings each rule has under ``results``, all findings under ``warnings``."""
        kept = (((k, v) for k, v in record.items() if v is not None or k == "run") for record in self.to_dicts())
        findings = [*map(dict, kept)]
        return super().json_document(**options) | {"results": self.to_dicts("rules"), "warnings": findings}

    def sentences(self) -> Iterator[str]:
        """Yield the number of warnings, notes and applied rules; the reason if no rule was applied."""
        if not self.rules:
            why = {rule.code: _why_not(rule, self.case.of) for rule in self.not_applied}
            alike = {text: [code for code in why if why[code] == text] for text in why.values()}
            yield "; ".join(f"{', '.join(codes)} not applied: {text}" for text, codes in alike.items())
            return
        applied = f"{words.counted(len(self.rules), 'rule')} applied"
        if not self.findings:
            yield f"Nothing found: {applied}."
            return
        number = Counter(finding.severity for finding in self.findings)
        counts = {"warning": number["warning"], "note": number["information"]}
        parts = [words.counted(count, noun) for noun, count in counts.items() if count]
        yield f"{', '.join(parts)} · {applied}"

    def blocks(self, **_: Any) -> list[Shown]:
        """Return the findings, warnings first, with their places, then their number and the next step."""
        summary = [Paragraph(text) for text in self.sentences()]
        if not self.findings:
            return [*summary]
        code = self.findings[0].code
        step = by_caller(f"next: rankscope check --explain {code}", f'next: rs.rules("{code}")')
        return [replace(self, findings=_grouped(self.findings)).table(), EMPTY, *summary, Paragraph(step, quiet=True)]

    def __str__(self) -> str:
        return "\n".join(f"{f.code} {f.severity}: {f.message}" for f in self.findings) or "no findings"

    __repr__ = __str__


@dataclass(frozen=True, eq=False, repr=False)
class RuleBook(Result):
    """Rules of ``check``: the problem, why it matters for the number, and what to do. A single rule is explained at length."""

    schema: ClassVar[str] = "rules/1"
    views: ClassVar[tuple[View, ...]] = (
        View(
            "rules",
            (
                Col("code", head="code"), Col("rule", of=lambda rule: rule.name),
                Col("severity", head="severity", cell=lambda rule: SHORT[rule.severity]),
                Col("what", head="problem", wraps=True), Col("why"), Col("remedy", of=lambda rule: in_caller_syntax(rule.remedy)),
            ),
            lambda book: book.rules,
        ),
    )  # fmt: skip

    rules: Sequence[Rule]

    def json_document(self, **_: Any) -> dict[str, Any]:
        """The rules; there are no conventions and no warnings."""
        whole = super().json_document()
        return {key: whole[key] for key in ("schema", "rankscope", "results")}

    def blocks(self, **_: Any) -> list[Shown]:
        """All rules in a table, or one at length."""
        if len(self.rules) > 1:
            return [self.table()]
        (rule,) = self.rules
        remedy = f"{rule.remedy[:1].upper()}{rule.remedy[1:]}."
        files, names = ("LOG", "log") if rule.of == "log" else ("QRELS RUN...", "qrels, runs")
        call = by_caller(f"rankscope check {files} --select {rule.code}", f'rs.check({names}, select="{rule.code}")')
        facts = Facts((("what", rule.what), ("why", rule.why), ("to do", remedy)), room=6)
        return [Paragraph(f"{rule.code} {rule.name} ({rule.severity})"), EMPTY, facts, EMPTY, Code((call,))]

    def sentences(self) -> Iterator[str]:
        """Each rule in one line."""
        for rule in self.rules:
            yield f"{rule.code}: {rule.what}"
