"""Merge the parts of an evaluation into its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.parts import files_of
from rankscope.scoring.evaluation import evaluate_judged, scores_of
from rankscope.scoring.scores import Scores
from rankscope.sharding.partial import PartialScores, check_clusters, read_part
from rankscope.sharding.shares import join_shares


def merge(parts: Any, *, ignore: str | Iterable[str] | None = None) -> Scores:
    """Put together the parts of an evaluation that were made with ``evaluate(..., partition="3/8")``.

    ``parts`` are the files that hold them, in any order, a folder or a pattern like ``"part*.parquet"``, or the parts themselves. The result
    is that of one evaluation of the whole run, to the last bit: numbers, intervals, warnings, notes and conventions. The run and the
    judgments are not read again, so that the hash of the run's file is not told. ``ignore`` names warnings to leave out, by their codes.

    Raises InputError for a part that is missing, given twice, cut short, damaged or none. For parts of other judgments, metrics, policies, runs,
    numbers of partitions or versions of rankscope, and for a query whose rows stand in several partitions. Raises DataError if run
    and qrels share no query.

    >>> import rankscope as rs
    >>> qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    >>> parts = [rs.evaluate(qrels, run, "RR", partition=f"{number}/2") for number in (1, 2)]
    >>> rs.merge(parts)["RR"]  # (1 + 1/2) / 2
    0.75
    """
    partitions = sorted(_read(parts), key=lambda part: part.number)
    if not partitions:
        raise InputError("give parts: rankscope merge part*.parquet, with the files of rankscope evaluate --partition")
    first = partitions[0]
    for part in partitions[1:]:
        if reasons := list(first.differences(part)):
            raise InputError(
                f"{part.place} is not a part of the same evaluation as {first.place}: {'; '.join(reasons)}"
            )
    _check_whole(partitions)
    check_clusters(first.terms)
    shares = [part.share for part in partitions]
    judged = join_shares(shares)
    request = first.request if ignore is None else first.request.with_policies(ignore=ignore)
    evaluation = evaluate_judged(judged, first.qrels.duplicates, request)
    queries = next(iter(shares[0].nothing.values())).query_id
    of = first.qrels
    return scores_of(request, [evaluation], queries, of.as_source(), content=lambda: of.content_sha256)


def _read(parts: Any) -> list[PartialScores]:
    out = []
    for part in parts if isinstance(parts, list | tuple) else [parts]:
        if isinstance(part, PartialScores):
            out.append(part)
        elif isinstance(part, str | Path):
            several = Path(part).is_dir() or any(sign in str(part) for sign in "*?")
            out += [read_part(path) for path in (files_of(part) if several else None) or [Path(part)]]
        else:
            raise InputError(f"parts are files that rankscope evaluate --partition writes, not {type(part).__name__}")
    return out


def _check_whole(parts: Sequence[PartialScores]) -> None:
    of = parts[0].of
    if of is None:
        raise InputError(
            f"{parts[0].place}: kept by rankscope evaluate --resume, which merges these parts itself: run it again with its folder"
        )
    by_number: dict[int, PartialScores] = {}
    for part in parts:
        if part.number in by_number:
            raise InputError(
                f"{part.title} is given twice ({by_number[part.number].place}, {part.place}): leave one out"
            )
        by_number[part.number] = part
    missing = [number for number in range(1, of + 1) if number not in by_number]
    if missing:
        which = f"{'part' if len(missing) == 1 else 'parts'} {words.listing(map(str, missing), 5, last='and')} of {of}"
        make = f"rankscope evaluate --partition {missing[0]}/{of} -o part{missing[0]}.parquet"
        raise InputError(f"{which} {words.agree(len(missing), 'is')} missing: make it with {make}, or name its file")
