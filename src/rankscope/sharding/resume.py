"""Continue an interrupted evaluation: judged groups of the pieces of a run are stored in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.errors import InputError
from rankscope.parallel import check_whole
from rankscope.scoring.inputs import CleanInput, read_any
from rankscope.scoring.judging import JudgedRun, judge_run
from rankscope.scoring.request import Request
from rankscope.sharding.partial import PartialScores, QrelsFacts, read_part, terms_of
from rankscope.sharding.shares import JudgedShare, ShareFacts, ShareJudge, facts_of, has_query_twice, join_shares

if TYPE_CHECKING:
    from rankscope.files.parts import RunParts

EMPTY = np.zeros(0, dtype=np.int64)
GROUP = 32  # pieces of a run in a file: all that is lost when work is interrupted


def check_parent(folder: str | Path) -> None:
    """Refuse, before anything is read, a folder to keep work in that cannot be made."""
    if not Path(folder).parent.is_dir() or (Path(folder).exists() and not Path(folder).is_dir()):
        why = "a file has this name" if Path(folder).exists() else f"the folder {Path(folder).parent} does not exist"
        raise InputError(f"{folder}: no folder to keep work in: {why}")


class KeptWork:
    """The folder in which a job keeps its judged parts, to go on from them. Raises InputError if it cannot be used."""

    def __init__(self, folder: str | Path, grades: CleanInput, request: Request) -> None:
        self.folder, self.request, self.qrels = Path(folder), request, QrelsFacts.of(grades)
        self.terms = terms_of(request)  # what cannot be kept is refused before any work
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: no folder to keep work in: {error.strerror or error}") from None

    def judge(self, run: Any, name: str | None, number: int, grades: CleanInput, request: Request) -> JudgedRun:
        """Judge the run of this ``number`` as ``judge_run`` does, reading and judging only groups that are not in the folder."""
        data = read_any("run", run, name, parts=True, reading=request.policies)
        if not hasattr(data, "reads"):  # read whole: there is nothing to go on from
            return judge_run(data, name, number, grades, request)
        shares = self._shares(data, name, number, ShareJudge(grades, request))
        if shares is None or has_query_twice(shares) or not any(share.queries for share in shares):
            check_whole(data.label, data.size)
            return judge_run(data.whole(), name, number, grades, request)
        # of a folder all is known only now that every file of it was opened
        shares[0] = replace(shares[0], run=replace(shares[0].run, head=data.head()))
        judged_run, source = join_shares(shares, number), data.source()
        return replace(judged_run, source=replace(judged_run.source, sha256=source.sha256, same=source.same))

    def _shares(self, data: RunParts, name: str | None, number: int, sharer: ShareJudge) -> list[JudgedShare] | None:
        """The judged lists of each group of pieces, or None if the format needs all rows at once."""
        changed = _changed(data.label)
        shares: list[JudgedShare] = []
        for start, group in _groups(data.reads(1)):
            place = self.folder / f"run{number}-{start // GROUP + 1:05}.parquet"
            share = self._kept(place, data, name, changed)
            if share is None:
                try:
                    parts = sharer.each(group, self.request.policies)
                except InputError:
                    return None
                pieces = [(start + i, part) for i, part in enumerate(parts)]
                facts = facts_of(data, name, [n for n, _ in pieces], parts)
                share = sharer.share(pieces, replace(facts, changed=changed), start == 0)
                self._part(share, start // GROUP + 1).save(place)
            else:
                for _ in group:  # cut off from what follows, and not read
                    pass
            shares.append(share)
        return shares

    def _kept(self, place: Path, data: RunParts, name: str | None, changed: int) -> JudgedShare | None:
        """The content of a file, None if it is missing or damaged. Raises InputError if it is of another job."""
        if not place.exists():
            return None
        try:
            kept = read_part(place)
        except InputError:
            return None  # made again
        facts = ShareFacts(data.label, data.size, name, changed=changed)
        this = replace(self._part(JudgedShare([], EMPTY, EMPTY, {}, facts), kept.number), place="this job")
        if reasons := list(kept.differences(this)):
            raise InputError(
                f"{self.folder} keeps the work of another job ({'; '.join(reasons)}): name another folder, or empty it"
            )
        return kept.share

    def _part(self, share: JudgedShare, number: int) -> PartialScores:
        return PartialScores(number, None, self.request, self.terms, self.qrels, share)


def _groups(reads: Iterator[Callable[[], Any]]) -> Iterator[tuple[int, Iterator[Callable[[], Any]]]]:
    start = 0
    for first in reads:
        yield start, chain([first], islice(reads, GROUP - 1))
        start += GROUP


def _changed(label: str) -> int:
    path = Path(os.path.expanduser(label))  # as the readers do
    files: Sequence[Path] = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return max((file.stat().st_mtime_ns for file in files if file.is_file()), default=0)
