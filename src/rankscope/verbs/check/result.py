"""What ``check`` gives: the findings, and the rules themselves, one or all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import EMPTY, Caution, Code, Facts, Paragraph
from rankscope.show.result import Col, Result, Shown, View, input_record
from rankscope.tables import Source
from rankscope.verbs.check.rule import Finding, Rule

PLACES = 3  # places that the table names; JSON has two more
SHORT = {"warning": "warning", "information": "info"}


def _message(finding: Finding) -> str:
    if not finding.places:
        return finding.message
    places = finding.places[:PLACES]
    more = (finding.count or 0) - len(places)
    rest = f" · {words.count(more)} more" if more > 0 else ""
    return f"{finding.message}: {' · '.join(places)}{rest}"


def _why_not(rule: Rule, of: str = "") -> str:
    if of and rule.of != of:
        return (
            "about a log alone: rankscope check LOG"
            if rule.of == "log"
            else "about judgments and runs: rankscope check QRELS RUN..."
        )
    needs = words.keywords(f"needs --{rule.needs.replace('_', '-')}")
    return f"reported by {rule.other_verb}" if rule.other_verb else needs


@dataclass(frozen=True, eq=False, repr=False)
class Inspection(Result):
    """What ``check`` found: ``findings``, warnings first; the ``rules`` that were applied; the ``case`` they looked at.

    ``not_applied`` holds rules that were chosen but need what was not stated, or are for another command.
    """

    schema: ClassVar[str] = "check/1"
    views: ClassVar[tuple[View, ...]] = (
        View(
            "findings",
            (
                Col("code", head="code"),
                Col("severity", head="severity", cell=lambda f: SHORT[f.severity]),
                Col("run"),
                Col("message", head="finding", cell=_message, wraps=True),
                Col("hint"),
                Col("count"),
                Col("effect", of=lambda f: dict(f.effect) or None),
                Col("queries", of=lambda f: list(f.queries) or None),
                Col("documents", of=lambda f: [{"query_id": q, "doc_id": d} for q, d in f.documents] or None),
                Col("places", of=lambda f: list(f.places) or None),
            ),
            lambda inspection: inspection.findings,
            labels=2,
        ),
        View(
            "rules",
            (
                Col("code", head="code", of=lambda pair: pair[0].code),
                Col("rule", head="rule", of=lambda pair: pair[0].name),
                Col("findings", head="findings", kind="count", of=lambda pair: pair[1]),
            ),
            lambda inspection: inspection.tallies,
        ),
        View(
            "not_applied",
            (
                Col("code", head="code", of=lambda pair: pair[0].code),
                Col("reason", head="reason", of=lambda pair: _why_not(*pair)),
            ),
            lambda inspection: [(rule, inspection.case.of) for rule in inspection.not_applied],
        ),
    )

    findings: Sequence[Finding]
    rules: Sequence[Rule]
    case: Any  # a CheckCase, or of a log a LogCase
    not_applied: Sequence[Rule] = ()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def warnings(self) -> Sequence[Finding]:
        """What to deal with before trusting the numbers."""
        return [finding for finding in self.findings if finding.severity == "warning"]

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The policies under which the numbers were computed; none where nothing could be scored."""
        found: Mapping[str, Any] = self.case.conventions
        return found

    @property
    def sources(self) -> list[Source]:
        """Where what was looked at came from."""
        found: list[Source] = self.case.sources
        return found

    @property
    def notes(self) -> list[str]:
        """How the files were read."""
        return [note for source in self.sources for note in source.notes]

    @property
    def tallies(self) -> list[tuple[Rule, int]]:
        """The rules that were applied, each with the number of its findings."""
        number = Counter(finding.code for finding in self.findings)
        return [(rule, number[rule.code]) for rule in self.rules]

    @property
    def exit_code(self) -> int:
        """1 with a warning, 0 without: information alone is no reason to stop."""
        return 1 if self.warnings else 0

    def facts(self) -> Mapping[str, Any]:
        """The policies, what was read, and the state of the data."""
        return {
            **super().facts(),
            "inputs": [input_record(source) for source in self.sources],
            "data_health": self.case.data_health,
        }

    def envelope(self, **options: Any) -> dict[str, Any]:
        """All of the result: how many findings each rule has under ``results``, all findings under ``warnings``."""
        findings = [
            {key: value for key, value in record.items() if value is not None or key == "run"}
            for record in self.to_dicts()
        ]
        return super().envelope(**options) | {"results": self.to_dicts("rules"), "warnings": findings}

    def beside(self, **_: Any) -> Iterator[str]:
        """The rules that were not applied: those that were are the results."""
        yield "not_applied"

    def sentences(self) -> Iterator[str]:
        """How many warnings and notes there are, and how many rules were applied; why, where none was."""
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
        """The findings, warnings first, each with places where there are any; then how many, and the next step."""
        summary = [Paragraph(text) for text in self.sentences()]
        if not self.findings:
            return [*summary]
        code = self.findings[0].code
        step = words.either(f"next: rankscope check --explain {code}", f'next: rs.rules("{code}")')
        return [self.table(), EMPTY, *summary, Paragraph(step, quiet=True)]

    def __str__(self) -> str:
        return "\n".join(f"{f.code} {f.severity}: {f.message}" for f in self.findings) or "no findings"

    __repr__ = __str__


@dataclass(frozen=True, eq=False, repr=False)
class RuleBook(Result):
    """Rules of ``check``: what each is about, why it matters for the number, and what to do. A single one is explained at length."""

    schema: ClassVar[str] = "rules/1"
    views: ClassVar[tuple[View, ...]] = (
        View(
            "rules",
            (
                Col("code", head="code"),
                Col("rule", of=lambda rule: rule.name),
                Col("severity", head="severity", cell=lambda rule: SHORT[rule.severity]),
                Col("what", of=lambda rule: rule.what(), head="what is wrong", wraps=True),
                Col("why"),
                Col("remedy", of=lambda rule: words.keywords(rule.remedy)),
            ),
            lambda book: book.rules,
        ),
    )

    rules: Sequence[Rule]
    conventions: ClassVar[Mapping[str, Any]] = {}
    notes: ClassVar[Sequence[str]] = ()
    warnings: ClassVar[Sequence[Caution]] = ()

    def envelope(self, **_: Any) -> dict[str, Any]:
        """The rules; there are no conventions and no warnings."""
        whole = super().envelope()
        return {key: whole[key] for key in ("schema", "rankscope", "results")}

    def blocks(self, **_: Any) -> list[Shown]:
        """All rules in a table, or one at length."""
        if len(self.rules) > 1:
            return [self.table()]
        (rule,) = self.rules
        remedy = f"{rule.remedy[:1].upper()}{rule.remedy[1:]}{'' if rule.remedy.endswith('.') else '.'}"
        call = f'rs.check({"log" if rule.of == "log" else "qrels, runs"}, select="{rule.code}")'
        return [
            Paragraph(f"{rule.code} {rule.name} ({rule.severity})"),
            EMPTY,
            Facts((("what", rule.what()), ("why", rule.why), ("to do", remedy)), room=6),
            EMPTY,
            Code(
                (
                    words.either(
                        f"rankscope check {'LOG' if rule.of == 'log' else 'QRELS RUN...'} --select {rule.code}", call
                    ),
                )
            ),
        ]

    def sentences(self) -> Iterator[str]:
        """Each rule in one line."""
        for rule in self.rules:
            yield f"{rule.code}: {rule.what()}"
