"""Advice as sentences, blocks, records, commands and settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from rankscope._version import __version__
from rankscope.blocks import EMPTY, Block, Code, Column, Heading, Paragraph, Table
from rankscope.show.result import input_record
from rankscope.verbs.advise.advise import Advice
from rankscope.verbs.advise.case import HOLES, RESTS, grades, number, queries, relevant
from rankscope.verbs.advise.guess import because

COLUMNS = ("kind", "metric", "primary", "why", "rests_on")
ROOM = 72  # of a line of a command


def sentence(found: Advice) -> str:
    """The answer: the primary metric, the task it is for, and what it rests on."""
    first = found.recommended[0]
    return (
        f"Declare {first.metric} in advance: for the task {found.task.name}, {first.why} ({first.rests_on})."
    )


def doubts(found: Advice) -> Iterator[str]:
    """What to doubt: the task where it was not said, the level, holes, how much the queries can show."""
    if found.sure != "said":
        first, second = found.likeliest
        yield (
            f"The task was not said. The data look like {first.task} ({because(first)}); this is {_SURE[found.sure]}. "
            f"Next likeliest is {second.task} ({because(second)}). Say it with --task."
        )
    facts, case = found.facts, found.case
    if case.counts:
        yield f"Grades go up to {number(facts.top)}, as counts do: 1 or more is relevant here, and nothing better than that."
    if facts.level != 1:
        scale = "a scale of ratings" if facts.stars else "a scale below 1"
        yield f"The grades look like {scale}: {facts.level:g} and more count as relevant here. Where that is wrong, say another level, like P(level={facts.top:g})@10."
    elif case.graded and not case.aspects and any(m.metric.relevance == "binary" for m in found.recommended):
        yield f"For P, R, AP, RR and Success a grade of 1 is relevant. If 1 means about the subject only, count from 2 on, like P(level=2)@{case.k}."
    if facts.negative:
        yield f"{number(facts.negative)} documents have a negative grade: in the pool, not relevant, without gain, and skipped by Bpref."
    short = [run.name for run in facts.runs if run.deepest < case.k]
    if short:
        yield f"{', '.join(short[:3])} {'ends' if len(short) == 1 else 'end'} above rank {case.k}: what lies between counts as not found."
    tied = [run for run in facts.runs if run.tied >= HOLES]
    if tied:
        most = max(tied, key=lambda run: run.tied)
        yield f"{most.tied:.0%} of the top 10 of {most.name} shares its score with another document: rankscope ties says how much that matters."
    missing = len(facts.relevant) - len(facts.answered)
    if missing:
        yield f"{number(missing)} of {number(facts.queries)} queries have no relevant document: P, R, AP, RR and Success are 0 for them whatever is returned (--no-relevant skip leaves them out)."


def showable(found: Advice) -> str:
    """What difference the queries at hand can show."""
    seen, primary = found.showable, found.primary
    if seen is None:
        return "How large a difference these queries can show is not known: two runs that differ would tell."
    how = {
        "pairs": f"the median of {number(seen.pairs)} pairs of your runs"
        if seen.pairs > 1
        else "as your two runs differ",
        "scores": "if another run's scores correlate with these at 0.5; give two runs and it is measured",
        "assumed": "if the differences of two runs have a standard deviation of 0.2; give two runs and it is measured",
    }[seen.source]
    low, high = primary.range
    if seen.difference >= high - low:
        return f"{number(seen.queries)} queries can show no difference in {primary} with 80% power: judge more ({how})."
    return f"{number(seen.queries)} queries can show a difference of about {seen.difference:.3f} in {primary} with 80% power ({how})."


_SURE = {"clear": "fairly clear", "likely": "likely, not certain", "a guess": "a guess"}


def cutoff(found: Advice) -> str:
    """Why the results are looked at down to this rank."""
    ends = (
        f", and the lists of your runs end at {found.facts.reach}"
        if found.facts.reach == found.case.k
        else ""
    )
    return f"Cutoff {found.case.k}: {found.task.reason}{ends}."


# --- what to do next ----------------------------------------------------------------------------------


def commands(found: Advice) -> list[str]:
    """The commands to go on with; calls of Python where an input was read from no file."""
    qrels, runs = found.given
    if qrels is None or "" in runs:
        return _calls(found)
    metrics = " ".join(f"-m {shlex.quote(metric)}" for metric in found.metrics)
    kept = "" if found.duplicates == "error" else f" --duplicates {found.duplicates}"
    inputs = " ".join(map(shlex.quote, [qrels, *(runs or ["my.run"])]))
    out = [f"rankscope evaluate {inputs} {metrics}{kept}"]
    two = inputs if len(runs) > 1 else f"{inputs} other.run"
    out.append(
        f"rankscope compare {two} --primary {shlex.quote(str(found.primary))} {_compared(found, metrics)}{kept}"
    )
    return out


def _compared(found: Advice, metrics: str) -> str:
    """The metrics of a comparison: those with a direction."""
    names = [str(one.metric) for one in found.recommended if one.metric.better != "neither"]
    return (
        metrics if len(names) == len(found.metrics) else " ".join(f"-m {shlex.quote(name)}" for name in names)
    )


def _calls(found: Advice) -> list[str]:
    kept = "" if found.duplicates == "error" else f", duplicates={found.duplicates!r}"
    names = [str(one.metric) for one in found.recommended if one.metric.better != "neither"]
    return [
        f"rs.evaluate(qrels, runs, {found.metrics!r}{kept})",
        f"rs.compare(qrels, runs, {names!r}, primary={str(found.primary)!r}{kept})",
    ]


def snippet(found: Advice) -> str:
    """The choice as settings."""
    names = [str(one.metric) for one in found.recommended if one.metric.better != "neither"]
    one = f"metrics = [{', '.join(map(_toml, names))}]"
    lines = [
        "[tool.rankscope]",
        f"primary = {_toml(str(found.primary))}",
        *([one] if len(one) <= ROOM else ["metrics = [", *(f"    {_toml(name)}," for name in names), "]"]),
    ]
    if found.duplicates != "error":
        lines.append(f"duplicates = {_toml(found.duplicates)}")
    return "\n".join(lines) + "\n"


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


# --- blocks and records ---------------------------------------------------------------------------------


def blocks_of(found: Advice) -> list[Block]:
    """The answer, the doubts, what fits, what does not, and what to do next."""
    fits = tuple((str(one.metric), f"{one.why} ({one.rests_on})") for one in found.recommended)
    out: list[Block] = [Paragraph(sentence(found))]
    out += [Paragraph(text) for text in (cutoff(found), showable(found), *doubts(found))]
    out += [EMPTY, Heading("what fits"), _table(fits)]
    if found.avoid:
        out += [
            EMPTY,
            Heading("what not to use"),
            _table(tuple((one.metric, one.why) for one in found.avoid)),
        ]
    case = found.case
    out += [
        EMPTY,
        Paragraph(
            " · ".join((queries(case), relevant(case), grades(case), RESTS["depth"](case))), quiet=True
        ),
    ]
    lines = [line for command in found.next for line in folded(command)]
    return [
        *out,
        Paragraph("next:"),
        Code(tuple(lines)),
        Paragraph("or settled in pyproject.toml, for compare, gate and the pytest fixture:"),
        Code(tuple(found.settings.splitlines())),
    ]


def _table(rows: Sequence[tuple[str, str]]) -> Table:
    return Table((Column("metric"), Column("why", wraps=True)), tuple(rows))


def folded(command: str) -> list[str]:
    r"""A long command over several lines, which still works when it is pasted; an option stays with its value.

    >>> folded("rankscope evaluate qrels.txt my.run -m AP")
    ['rankscope evaluate qrels.txt my.run -m AP']
    >>> folded(f"rankscope evaluate {'q' * 40} {'r' * 20} -m AP")[1]
    '  rrrrrrrrrrrrrrrrrrrr -m AP'
    """
    if not command.startswith("rankscope "):
        return [command]
    lines, pieces = [""], _pieces(command)
    for piece in pieces:
        if lines[-1].strip() and len(lines[-1]) + 1 + len(piece) > ROOM:
            lines[-1] += " \\"
            lines.append("  " + piece)
        else:
            lines[-1] += f" {piece}" if lines[-1] else piece
    return lines


def _pieces(command: str) -> list[str]:
    """The words of a command, quoted again, each option with its value."""
    words = [shlex.quote(word) for word in shlex.split(command)]
    out: list[str] = []
    for word in words:
        if out and out[-1] in {"-m", "--primary", "--duplicates"}:
            out[-1] += f" {word}"
        else:
            out.append(word)
    return out


def records(found: Advice) -> Iterator[dict[str, Any]]:
    """One record a metric, recommended or to be avoided."""
    for one in found.recommended:
        yield {
            "kind": "recommended",
            "metric": str(one.metric),
            "primary": one.primary,
            "why": one.why,
            "rests_on": one.rests_on,
        }
    for other in found.avoid:
        yield {"kind": "avoid", "metric": other.metric, "primary": False, "why": other.why, "rests_on": None}


def envelope(found: Advice) -> dict[str, Any]:
    """All of the advice; keys are added to it but never renamed."""
    seen = found.showable
    inputs = found.scores.inputs if found.scores is not None else []
    return {
        "schema": "rankscope/advise/1",
        "rankscope": __version__,
        "verdict": [sentence(found)],
        "facts": facts_record(found),
        "task": {
            "name": found.task.name,
            "about": found.task.about,
            "sure": found.sure,
            "k": found.case.k,
            "deep": found.case.deep,
            "cutoff": cutoff(found),
            "likeliest": [{"task": g.task, "points": g.points, "because": list(g.signs)} for g in found.likeliest],
        },
        "inputs": [input_record(source) for source in inputs],
        "recommended": [
            {"metric": str(one.metric), "why": one.why, "rests_on": one.rests_on, "primary": one.primary}
            for one in found.recommended
        ],
        "avoid": [{"metric": one.metric, "why": one.why} for one in found.avoid],
        "showable": None if seen is None else {
            "metric": str(found.primary), "queries": seen.queries, "difference": seen.difference, "deviation": seen.deviation,
            "power": 0.8, "alpha": 0.05, "spread_from": seen.source, "pairs": seen.pairs, "in_words": showable(found),
        },
        "doubts": list(doubts(found)),
        "next": found.next,
        "settings": found.settings,
    }  # fmt: skip


def facts_record(found: Advice) -> dict[str, Any]:
    """The facts as plain values."""
    facts, k = found.facts, found.case.k
    return {
        "queries": facts.queries,
        "queries_with_relevant": len(facts.answered),
        "queries_with_one_relevant": facts.singles,
        "queries_with_both_kinds": facts.both,
        "judgments": facts.judgments,
        "grades": {f"{grade:g}": count for grade, count in facts.grades.items()},
        "level": facts.level,
        "ratings": facts.stars,
        "negative": facts.negative,
        "relevant_median": facts.median,
        "relevant_fewest": int(facts.answered.min()),
        "relevant_most": int(facts.answered.max()),
        "several_grades": facts.several,
        "subtopics_fewest": facts.aspects[0],
        "subtopics_most": facts.aspects[1],
        "queries_look_like_users": facts.users,
        "documents_look_like_entities": facts.entities,
        "precision_ceiling": facts.precision_ceiling(k),
        "recall_ceiling": facts.recall_ceiling(k),
        "runs": [
            {
                "run": run.name, "lists": run.lists, "depth": run.depth, "deepest": run.deepest, "cut": run.cut,
                "unjudged": run.unjudged, "unjudged_in_all": run.unknown, "tied_in_top_10": run.tied, "missing_queries": run.missing,
            }
            for run in facts.runs
        ],
    }  # fmt: skip
