"""What ``check`` found, as blocks and records; and its rules, one or all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rankscope._version import __version__
from rankscope.blocks import EMPTY, Block, Code, Column, Facts, Paragraph, Table
from rankscope.show.result import input_record
from rankscope.verbs.check.check import Checked
from rankscope.verbs.check.rules.base import Finding, Rule

COLUMNS = ("code", "severity", "run", "message", "hint", "count", "effect", "queries", "documents", "places")
SHOWN = 3  # places that the table names; JSON has two more
SHORT = {"warning": "warning", "information": "info"}
OPTIONS = {"scale": "--scale", "train": "--train", "texts": "--docs-text"}  # by what a rule needs


def blocks_of(found: Checked) -> list[Block]:
    """The findings, warnings first, each with places where there are any; then how many, and the next step."""
    blocks: list[Block] = []
    if found.findings:
        columns = (Column("code"), Column("severity"), Column("finding", wraps=True))
        rows = tuple((f.code, SHORT[f.severity], _in_full(f)) for f in found.findings)
        blocks += [Table(columns, rows, labels=2), EMPTY]
    blocks.append(Paragraph(sentence(found)))
    if found.findings:
        blocks.append(Paragraph(f"next: rankscope check --explain {found.findings[0].code}", quiet=True))
    return blocks


def sentence(found: Checked) -> str:
    """How many warnings and notes there are, and how many rules were applied; why, where none was."""
    if not found.rules:
        why = {rule.code: _why_not(rule) for rule in found.not_applied}
        alike = {text: [code for code in why if why[code] == text] for text in why.values()}
        return "; ".join(f"{', '.join(codes)} not applied: {text}" for text, codes in alike.items())
    warnings = len(found.warnings)
    notes = len(found.findings) - warnings
    applied = f"{len(found.rules)} {'rule' if len(found.rules) == 1 else 'rules'} applied"
    if not found.findings:
        return f"Nothing found: {applied}."
    parts = [
        f"{number} {word}{'' if number == 1 else 's'}"
        for number, word in ((warnings, "warning"), (notes, "note"))
        if number
    ]
    return f"{', '.join(parts)} · {applied}"


def _why_not(rule: Rule) -> str:
    return f"said by {rule.said_by}" if rule.said_by else f"needs {OPTIONS[rule.needs]}"


def _in_full(finding: Finding) -> str:
    """The message, and the first places of what can be looked up in a file."""
    if not finding.places:
        return finding.message
    shown = finding.places[:SHOWN]
    more = (finding.count or 0) - len(shown)
    rest = f" · {more:,} more" if more > 0 else ""
    return f"{finding.message}: {' · '.join(shown)}{rest}"


def records(found: Checked) -> Iterator[dict[str, Any]]:
    """One record a finding, with the same keys for all."""
    for finding in found.findings:
        record = finding.as_dict()
        yield {name: record.get(name) for name in COLUMNS}


def envelope(found: Checked) -> dict[str, Any]:
    """All of a result: the findings under ``warnings``, and under ``results`` how many each rule had."""
    case = found.case
    number = Counter(finding.code for finding in found.findings)
    scores = case.scores
    return {
        "schema": "rankscope/check/1",
        "rankscope": __version__,
        "conventions": dict(scores.conventions) if scores else {},
        "inputs": [input_record(source) for source in found.sources],
        "data_health": scores.data_health if scores else {},
        "results": [
            {"code": rule.code, "rule": type(rule).__name__, "findings": number[rule.code]}
            for rule in found.rules
        ],
        "not_applied": [{"code": rule.code, "reason": _why_not(rule)} for rule in found.not_applied],
        "warnings": [finding.as_dict() for finding in found.findings],
    }


# --- the rules themselves ----------------------------------------------------------------------------


def explanation(rule: Rule) -> list[Block]:
    """What a rule is about, why it matters for the number, and what to do."""
    return [
        Paragraph(f"{rule.code} {type(rule).__name__} ({rule.severity})"),
        EMPTY,
        Facts((("what", rule.what()), ("why", rule.why), ("to do", sentence_case(rule.remedy))), room=6),
        EMPTY,
        Code((f"rankscope check QRELS RUN... --select {rule.code}",)),
    ]


def sentence_case(text: str) -> str:
    """Text with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def listing(rules: Sequence[Rule]) -> list[Block]:
    """All rules in a table."""
    columns = (Column("code"), Column("severity"), Column("what is wrong", wraps=True))
    rows = tuple((rule.code, SHORT[rule.severity], rule.what()) for rule in rules)
    return [Table(columns, rows, labels=1)]


def rule_records(rules: Sequence[Rule]) -> Iterator[dict[str, Any]]:
    """One record a rule: code, rule, severity, what, why, remedy."""
    for rule in rules:
        yield {
            "code": rule.code,
            "rule": type(rule).__name__,
            "severity": rule.severity,
            "what": rule.what(),
            "why": rule.why,
            "remedy": rule.remedy,
        }


def rules_envelope(rules: Sequence[Rule]) -> dict[str, Any]:
    """Rules as JSON."""
    return {"schema": "rankscope/rules/1", "rankscope": __version__, "results": list(rule_records(rules))}
