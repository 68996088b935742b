"""Find problems that make a number wrong: a linter for evaluations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rankscope.diagnostics.codes import all_rules, rule_named
from rankscope.diagnostics.rule import active_cautions
from rankscope.errors import InputError
from rankscope.files import qrels_of, run_of
from rankscope.logs.sums import refuse_rows
from rankscope.scoring.inputs import distinct_names, label_of, read_any, read_inputs
from rankscope.scoring.logs import log_of
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import Request
from rankscope.verbs.check.case import CheckCase, InputTable, LogCase
from rankscope.verbs.check.result import Inspection, RuleBook
from rankscope.verbs.check.rules import applies, findings_of, select_rules
from rankscope.words import option_named

SINGLE = (
    "no run was given: rankscope check QRELS RUN..., like rankscope check qrels.txt my.run; a single file is read as a log "
    "if it has item, user and click (or other names: --columns 'NAME=ROLE')"
)
NUMBER = r"[+-]?\d+(?:\.\d+)?"


def check(  # noqa: PLR0913 - the options of the command line, each with its default
    qrels: Any, runs: Any = None, metrics: Any = None, *, select: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (), scale: Any = None, train: Any = None, docs_text: Any = None,
    covariates: Iterable[str] = (), **policies: Any,
) -> Inspection:  # fmt: skip
    """Find problems that make the numbers of these rankings wrong, unfair or misleading, by rules with stable codes.

    The inputs are those of ``evaluate``, but malformed lines, repeated documents and NaN scores are all listed at once. ``select`` and ``ignore`` take codes or the start of a family's codes (``"RS101"``, ``"RS1"``). ``scale`` is the intended
    scale of the grades (``"0-3"`` or a pair), ``train`` the interactions that a recommender was trained on (``history`` by default),
    with which the split is audited, also without runs,
    ``docs_text`` the texts of documents: ``{id: text}``, a data frame, or a file (JSONL, TSV, CSV, Parquet, TREC documents ...).
    Policies are those of ``evaluate``, under the same names.

    A single input with the columns of a log (see ``read_log``; ``columns`` gives roles) is checked as a log of shown items and actions:
    ``covariates`` are columns that were measured before an experiment began.

    Raises InputError for unreadable input, an unknown rule, and wrong options.

    >>> import rankscope as rs
    >>> found = rs.check({"q1": {"a": 1}, "q2": {"a": 1, "b": 0}}, {"q1": {"a": 1.0}}, "RR", select=["RS101"])
    >>> [(f.code, f.severity, f.effect) for f in found], found.exit_code
    ([('RS101', 'warning', {'RR': -0.5})], 1)
    """
    train = policies.get("history") if train is None else train
    if runs is None and train is None:
        options = policies if metrics is None else {**policies, "metrics": metrics}
        return _check_log(qrels, select, ignore, covariates, options)
    if covariates:
        remedy = "leave them out, or give a log without runs"
        raise InputError(f"covariates are columns of a log, given without runs: {remedy}")
    select_rules(select, ignore)  # an unknown rule is refused before anything is read
    policies["ignore"] = ignore
    refuse_unknown(policies, "check")
    lenient = {} if policies.get("duplicates", "error") != "error" else {"duplicates": "first"}
    request = Request.of(metrics, {**policies, **lenient})
    span = scale_of(scale)
    read: list[tuple[str | None, Any]] = []
    if runs is None:  # only the split
        judgments = read_any("qrels", qrels, reading=request.policies)
    else:
        judgments, read = read_inputs(qrels, runs, request.policies)
    grades = qrels_of(judgments)
    labels = [label_of(data, name, number) for number, (name, data) in enumerate(read, start=1)]
    tables = [InputTable(name, run_of(data)) for name, (_, data) in zip(distinct_names(labels), read, strict=True)]
    case = CheckCase(InputTable(grades.source.label, grades), tables, request, span, train, docs_text, qrels)
    return _inspection(case, select, ignore)


def _inspection(case: CheckCase | LogCase, select: str | Iterable[str], ignore: str | Iterable[str]) -> Inspection:
    """Apply the chosen rules; rules for another kind of input are listed as not applied only if they were selected."""
    chosen = select_rules(select, ignore)
    applied = [rule for rule in chosen if applies(rule, case)]
    findings = active_cautions([finding for rule in applied for finding in findings_of(rule, case)])
    findings.sort(key=lambda finding: (finding.severity != "warning", finding.code))
    left = [rule for rule in chosen if rule not in applied and (rule.of == case.of or select)]
    return Inspection(findings, applied, case, left)


def _check_log(
    source: Any, select: Iterable[str], ignore: Iterable[str], covariates: Iterable[str], policies: dict[str, Any]
) -> Inspection:
    log = log_of(source, columns=policies.pop("columns", None))
    if log is None:
        raise InputError(SINGLE)
    refuse_rows(log, "check")
    refuse_unknown({name: value for name, value in policies.items() if name != "metrics"}, "check")
    if policies:
        name = option_named(next(iter(policies)))
        raise InputError(f"{name} is about rankings, and {log.label} is a log: leave it out")
    return _inspection(LogCase(log, [covariates] if isinstance(covariates, str) else list(covariates)), select, ignore)


def scale_of(scale: Any) -> tuple[float, float] | None:
    """The lowest and the highest grade of a scale: ``0-3``, ``0..3`` or a pair of numbers."""
    if scale is None:
        return None
    ends = scale
    if isinstance(scale, str):
        match = re.fullmatch(rf"\s*({NUMBER})\s*(?:-|–|\.\.|:|,)\s*({NUMBER})\s*", scale)
        ends = match.groups() if match else ()
    try:
        low, high = float(ends[0]), float(ends[-1])
    except (TypeError, ValueError, LookupError):
        low = high = 0.0
    if not low < high:
        raise InputError(f"scale={scale!r}: a scale is its lowest and its highest grade, like 0-3")
    return low, high


def rules(code: str | None = None) -> RuleBook:
    """Return every rule of ``check``, or one in full by its code or name. Raises InputError for an unknown rule.

    >>> print(rules("RS101").to_dicts()[0]["code"])
    RS101
    """
    return RuleBook(all_rules() if code is None else [rule_named(code)])
