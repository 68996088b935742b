"""A small real collection that comes along: three rankings to try everything on, offline."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from rankscope import words
from rankscope.blocks import EMPTY, Block, Code, Heading, Paragraph
from rankscope.errors import InputError
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores
from rankscope.store import write_file

RUNS = ("bm25", "dense", "hybrid")
UNJUDGED = "No person judged them: the grades, 0 to 3, follow from how the documentation is structured."


def folder() -> Path:
    """Return the folder of the demo's files."""
    return Path(__file__).resolve().parents[2] / "demo"


def demo() -> Scores:
    """Score the three rankings of the demo with the usual metrics."""
    runs = [str(folder() / f"{name}.run.gz") for name in RUNS]
    return evaluate_request(str(folder() / "qrels.txt"), runs, Request.of())


def copy_files(to: str) -> list[Path]:
    """Copy the demo's files into a new or empty folder: all or none, without overwriting."""
    target = Path(to)
    sources = sorted(path for path in folder().iterdir() if path.is_file() and not path.name.startswith("."))
    there = [path.name for path in sources if (target / path.name).exists()]
    if there:
        raise InputError(f"{to}: {there[0]} is there already: choose another folder for the demo's files")
    copies = [target / path.name for path in sources]
    try:
        target.mkdir(parents=True, exist_ok=True)
        for path, copy in zip(sources, copies, strict=True):
            write_file(copy, [path.read_bytes()])
    except (OSError, InputError) as error:
        for copy in copies:  # after a failure a second try must find the folder empty
            with suppress(OSError):
                copy.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{to}: the demo's files cannot be copied there: {reason}") from None
    return copies


def introduction(scores: Scores, brief: bool = False) -> list[Block]:
    """Return the demo: its data, its numbers, how to read them, and the next commands, or only the numbers if ``brief``."""
    if brief:
        return [scores.table()]
    nDCG, RR, recall = ({run: scores[run, name] for run in RUNS} for name in ("nDCG@10", "RR@10", "R@100"))
    best, unjudged = max(RR.values()), [1 - scores[run, "Judged@10"] for run in RUNS]
    about = (
        f"Three systems search the documentation of Python's standard library: bm25 by words, dense by sentence embeddings, "
        f"hybrid by a fusion of the two. {len(scores.runs[0].query_ids)} queries, up to 100 documents each. {UNJUDGED}"
    )
    reading = (
        f"nDCG@10: how close the first ten come to the best possible ten, and {max(nDCG, key=nDCG.__getitem__)} is ahead. "
        f"RR@10: one over the rank of the first good answer, and {words.number(best, digits=2)} is as good as rank {words.number(1 / best, digits=1)} "
        f"for every query. R@100: the share of the known good answers among the first 100, and {max(recall, key=recall.__getitem__)} "
        f"finds {words.share(max(recall.values()))}. Judged@10 measures how reliable they are: {words.share(min(unjudged))} to {words.share(max(unjudged))} of the "
        f"first ten were never judged and count as wrong."
    )
    own = Code(
        (
            "rankscope evaluate qrels.txt my.run -m nDCG@10",
            "rankscope evaluate qrels.txt one.run two.run --per-query",
            "rankscope metrics nDCG",
        )
    )
    again = "rankscope evaluate demo/qrels.txt demo/bm25.run.gz demo/dense.run.gz"
    copy = Code((str(folder()), "rankscope demo --copy demo", again))
    blocks: list[Block] = [
        Paragraph(about), EMPTY, scores.table(), EMPTY, Heading("Reading the result"), Paragraph(reading), EMPTY,
    ]  # fmt: skip
    blocks += [Heading("The same on your own files"), own, EMPTY, Heading("On these files, or on a copy"), copy]
    return [*blocks, EMPTY, Paragraph(scores.request.small_print(), quiet=True)]
