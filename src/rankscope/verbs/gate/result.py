"""A gate's verdict as a sentence, blocks, records and test cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rankscope._version import __version__
from rankscope.blocks import EMPTY, Block, Column, Heading, Note, Notes, Paragraph, Table, Value
from rankscope.panels.method import FEWEST
from rankscope.verbs.gate.checks import FLIPS, LOSSES, NOTHING, UNPROMISED, Check
from rankscope.verbs.gate.gate import CODES, Gate

COLUMNS = (
    "run", "baseline", "metric", "slice", "status", "difference", "ci_lower", "ci_upper", "tolerance", "p_value",
    "p_value_adjusted", "value", "baseline_value", "loss", "queries", "differing", "wins", "losses", "ties", "method",
    "queries_needed", "reason", "better", "left_out", "differing_clusters", "tolerance_said",
)  # fmt: skip
WORDS = {"pass": "pass", "fail": "FAIL", "cannot tell": "cannot tell"}
SHOWN = 3  # checks that do not hold which are told in words


# --- in words ----------------------------------------------------------------------------------------


def sentence(gate: Gate) -> str:
    """The verdict: the check that decides it, or the one that comes nearest to its tolerance."""
    word = WORDS[gate.status]
    if gate.unchanged:
        same = "the query" if gate.queries == 1 else f"each of the {gate.queries:,} queries"
        metrics = ", ".join(dict.fromkeys(check.metric for check in gate.checks))
        return f"{word}: nothing changed: {gate.candidate} scores as {gate.baseline} on {same} ({metrics})."
    first = leading(gate)
    if len(gate.checks) == 1:
        return f"{word}: {said(first, gate)}"
    count = sum(check.status == gate.status for check in gate.checks)
    of = f"{count} of {len(gate.checks)} checks"
    if gate.status == "pass":
        return f"{word}: all {len(gate.checks)} checks hold. The closest: {said(first, gate)}"
    what = {
        "fail": f"{of} {'fails' if count == 1 else 'fail'}",
        "cannot tell": f"{of} {'is' if count == 1 else 'are'} open",
    }
    return f"{word}: {what[gate.status]}. {'' if count == 1 else 'The worst: '}{said(first, gate)}"


def leading(gate: Gate) -> Check:
    """The check that decides the verdict: of those with its status the one that is furthest from its tolerance."""
    return min((c for c in gate.checks if c.status == gate.status), key=lambda c: c.margin)


def said(check: Check, gate: Gate) -> str:
    """One check in words."""
    if check.method == NOTHING:
        return f"{check.name} is the same on all {check.queries:,} queries."
    if math.isnan(check.lower):
        return _without_interval(check, gate)
    proof = ""
    if check.status == "fail":
        proof = f", {_p(check.p_value_adjusted)}{_holm(gate)}"
    text = (
        f"{check.name} changed by {_four(check.difference, '+')} ({_level(gate)} interval {_four(check.lower)} to {_four(check.upper)}{proof}); "
        f"the tolerance is {_tolerance(check)}."
    )
    if check.status != "cannot tell":
        return text
    if check.queries_needed is None:
        return text
    return f"{text} About {_about(check.queries_needed)} queries would settle it; you have {check.queries:,}."


def _without_interval(check: Check, gate: Gate) -> str:
    noun = "query" if check.queries == 1 else "queries"
    verb = "differs" if check.differing == 1 else "differ"
    text = f"{check.name}: {check.differing:,} of {check.queries:,} {noun} {verb}"
    if check.differing_clusters is not None:
        text += (
            f", in {check.differing_clusters:,} {'cluster' if check.differing_clusters == 1 else 'clusters'}"
        )
    if check.status == "fail":
        how = "by the same amount, " if check.method == FLIPS else ""
        return f"{text}, {how}{check.difference:+.4f} in the mean ({_p(check.p_value_adjusted)}{_holm(gate)}); the tolerance is {_tolerance(check)}."
    if check.status == "pass":
        return f"{text}; the losses alone, gains ignored, are {check.loss:.4f}, within the tolerance of {_tolerance(check)}. No interval was used."
    why = "too few for an interval" if check.few else "and there is no interval"
    if check.method == FLIPS:
        why = "by the same amount, which has no interval"
    return (
        f"{text}, {why}; the losses alone, gains ignored, are {check.loss:.4f}, above the tolerance of {_tolerance(check)}. "
        "Judge more queries on which the two answer differently."
    )


def _four(number: float, sign: str = "-") -> str:
    """A number with four decimals, and no minus before a zero."""
    text = f"{number:{sign}.4f}"
    return "0.0000" if text == "-0.0000" else text


def _tolerance(check: Check) -> str:
    relative = f" ({check.allowed})" if "%" in check.allowed else ""
    return f"{check.tolerance:.4f}{relative}"


def _level(gate: Gate) -> str:
    return f"{100 * gate.method.level:.4g}%"


def _p(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def _holm(gate: Gate) -> str:
    return f" after Holm over {len(gate.checks)}" if len(gate.checks) > 1 else ""


def _about(number: int) -> str:
    """A number with two digits that count: 642 is about 650."""
    step = 10 ** max(len(str(number)) - 2, 0)
    return f"{math.ceil(number / step) * step:,}"


# --- as blocks ---------------------------------------------------------------------------------------


def blocks_of(gate: Gate) -> list[Block]:
    """The verdict, the table of the checks, the doubts, what it rests on, and the exit code."""
    doubts = [Note(w.message, w.hint, w.code) for w in gate.warnings]
    return [
        Paragraph(gate.sentence),
        *_others(gate),
        EMPTY,
        table(gate),
        EMPTY,
        *([Notes(tuple(doubts))] if doubts else []),
        *small_print(gate),
        Paragraph(exit_line(gate)),
    ]


def page_blocks(gate: Gate) -> list[Block]:
    """The verdict for a page, such as the summary of a job."""
    return [
        Heading(f"rankscope gate: {gate.status} ({gate.candidate} against {gate.baseline})"),
        Paragraph(gate.sentence),
        *_others(gate),
        table(gate),
        *(Paragraph(f"{w.code}: {w.message}; {w.hint}") for w in gate.warnings),
        *small_print(gate),
        Paragraph(exit_line(gate), quiet=True),
    ]


def _others(gate: Gate) -> Iterator[Block]:
    """What else does not hold, worst first."""
    first = leading(gate)
    rest = [c for c in gate.checks if c.status != "pass" and c is not first]
    rest.sort(key=lambda c: (c.status != "fail", c.margin))
    for check in rest[: SHOWN - 1]:
        yield Paragraph(f"{WORDS[check.status]}: {said(check, gate)}")
    if len(rest) >= SHOWN:
        yield Paragraph(f"and {len(rest) - SHOWN + 1:,} more that do not hold")


def table(gate: Gate) -> Table:
    """A row a check."""
    sliced = any(check.slice is not None for check in gate.checks)
    columns = (
        Column("metric"),
        *([Column("slice")] if sliced else []),
        Column("verdict"),
        Column("change", "value"),
        Column(f"{_level(gate)} interval"),
        Column("tolerance", "value"),
        Column("p"),
        Column("W", "count"),
        Column("L", "count"),
        Column("T", "count"),
    )
    rows: list[tuple[Value, ...]] = [
        (
            check.metric,
            *([check.slice or "all"] if sliced else []),
            WORDS[check.status],
            _four(check.difference, "+") if check.difference else "0.0000",
            _interval(check),
            check.tolerance,
            None if math.isnan(check.p_value_adjusted) else _short(check.p_value_adjusted),
            check.wins,
            check.losses,
            check.ties,
        )
        for check in gate.checks
    ]
    return Table(columns, tuple(rows), labels=2 if sliced else 1)


def _interval(check: Check) -> str:
    if check.method == NOTHING:
        return "same"
    if math.isnan(check.lower):
        return check.method if check.method == FLIPS else f"{LOSSES} {_four(-check.loss)}"
    return f"{_four(check.lower, '+')} … {_four(check.upper, '+')}"


def _short(p_value: float) -> str:
    return "<.001" if p_value < 0.001 else f"{p_value:.3f}".removeprefix("0")


def small_print(gate: Gate) -> list[Block]:
    """What the verdict rests on: the rule, and the conventions of the metrics."""
    floor = "below 0" if gate.fail_on == "loss" else "below minus the tolerance"
    over = f" (Holm over {len(gate.checks)} checks)" if len(gate.checks) > 1 else ""
    test = "t test" if gate.method.test is None else f"{gate.method.test} test"
    parts = [
        f"{gate.candidate} against {gate.baseline}",
        f"pass: the interval lies above minus the tolerance{', in every check' if len(gate.checks) > 1 else ''}",
        f"fail: the mean is {floor} by a {test}{over}",
    ]
    parts += _without(gate)
    lower = list(dict.fromkeys(check.metric for check in gate.checks if check.better == "lower"))
    if lower:
        parts.append(f"{', '.join(lower)}: lower is better, so its change is turned and a loss is negative")
    return [
        Paragraph(" · ".join(parts), quiet=True),
        Paragraph(gate.scores.request.small_print(), quiet=True),
    ]


def _without(gate: Gate) -> Iterator[str]:
    """What was done where there is no interval."""
    bare = [c for c in gate.checks if math.isnan(c.lower) and c.method != NOTHING]
    what = "queries" if all(check.differing_clusters is None for check in gate.checks) else "clusters"
    if any(c.few for c in bare):
        yield f"fewer than {FEWEST} differing {what}: the losses alone; {UNPROMISED}"
    if any(c.method == FLIPS for c in bare):
        yield f"all {what} changed by the same amount: no interval used, but exact sign flips and the losses alone"
    if any(c.method == LOSSES and not c.few for c in bare):
        yield "no interval of these differences is known: the losses alone, no interval used"


def exit_line(gate: Gate) -> str:
    """What the exit code means."""
    return f"exit {gate.exit_code} ({', '.join(f'{code} {status}' for status, code in CODES.items())})"


# --- as records and cases -----------------------------------------------------------------------------


def records(gate: Gate) -> Iterator[dict[str, Any]]:
    """One record a check."""
    for c in gate.checks:
        numbers = {
            "difference": c.difference, "ci_lower": c.lower, "ci_upper": c.upper, "tolerance": c.tolerance, "p_value": c.p_value,
            "p_value_adjusted": c.p_value_adjusted, "value": c.value, "baseline_value": c.baseline_value, "loss": c.loss,
        }  # fmt: skip
        found = {
            "run": gate.candidate, "baseline": gate.baseline, "metric": c.metric, "slice": c.slice, "status": c.status,
            **{name: None if math.isnan(number) else number for name, number in numbers.items()},
            "queries": c.queries, "differing": c.differing, "wins": c.wins, "losses": c.losses, "ties": c.ties, "method": c.method,
            "queries_needed": c.queries_needed, "reason": c.reason, "better": c.better, "left_out": c.left_out, "differing_clusters": c.differing_clusters,
            "tolerance_said": c.allowed,
        }  # fmt: skip
        yield {name: found[name] for name in COLUMNS}


def envelope(gate: Gate, settings: str = "") -> dict[str, Any]:
    """All of a verdict, with what it rests on; keys are added to it but never renamed."""
    return {
        "schema": "rankscope/gate/1",
        "rankscope": __version__,
        "status": gate.status,
        "exit_code": gate.exit_code,
        "sentence": gate.sentence,
        "rule": {
            "fail_on": gate.fail_on,
            "alpha": gate.method.alpha,
            "interval": str(gate.method.interval or "t"),
            "test": str(gate.method.test or "t"),
            "correction": str(gate.method.correction),
            "comparisons": len(gate.checks),
        },
        "settings": settings or None,
        "conventions": dict(gate.scores.conventions),
        "provenance": gate.provenance,
        "data_health": gate.scores.data_health,
        "results": list(records(gate)),
        "notes": list(gate.notes),
        "warnings": [warned.as_dict() for warned in gate.warnings],
    }


def cases(gate: Gate) -> Sequence[tuple[str, str, str, str]]:
    """Each check as a test case: its name, what is said about it, and why it failed or came to no result."""
    out = []
    for check in gate.checks:
        text = said(check, gate)
        failure = text if check.status == "fail" else ""
        skipped = f"cannot tell: {text}" if check.status == "cannot tell" else ""
        out.append((check.name, text, failure, skipped))
    return out
