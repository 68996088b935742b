"""What a second look at the input tells where numbers are odd: each suspicion where it is due, with its size, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs

DRAWS = np.random.default_rng(4)
QUERIES = [f"q{i}" for i in range(12)]
QRELS = {q: {f"D{j:03}": int(DRAWS.integers(0, 3)) for j in range(20)} for q in QUERIES}
RUN = {q: {f"D{j:03}": float(DRAWS.random()) * 20 for j in range(40)} for q in QUERIES}
OTHER = {q: {f"D{j:03}": float(DRAWS.random()) * 20 for j in range(40)} for q in QUERIES}


def renamed(spell: Any) -> Any:
    return {q: {spell(d): s for d, s in docs.items()} for q, docs in RUN.items()}


def table(data: Any, worth: str) -> pl.DataFrame:
    rows = [(q, d, v) for q, docs in data.items() for d, v in docs.items()]
    return pl.DataFrame(rows, ["query_id", "doc_id", worth], orient="row")


def told(code: str, qrels: Any, runs: Any, metrics: Any = "nDCG@10", **more: Any) -> list[str]:
    return [w.message for w in rs.evaluate(qrels, runs, metrics, **more).warnings if w.code == code]


def test_what_is_sound_is_not_suspected() -> None:
    codes = {w.code for w in rs.evaluate(QRELS, {"a": RUN, "b": OTHER}, "nDCG@10").warnings}
    assert not codes & {"RS114", "RS115", "RS116", "RS202"}


@pytest.mark.parametrize("form", ["dict", "frame", "file"])
@pytest.mark.parametrize(
    ("spell", "difference"),
    [
        (str.lower, "case"),
        (lambda d: d.replace("D0", "D"), "leading zeros"),
        (lambda d: d.replace("D", " D"), "spaces"),
    ],
    ids=["case", "zeros", "spaces"],
)
def test_ids_that_are_written_differently_are_told_with_their_effect(
    tmp_path: Path, form: str, spell: Any, difference: str
) -> None:
    run: Any = renamed(spell)
    if form != "dict":
        run = table(run, "score")
    if form == "file":
        run.write_csv(tmp_path / "run.csv")
        run = tmp_path / "run.csv"
    found = told("RS114", QRELS, run)
    right = rs.evaluate(QRELS, RUN, "nDCG@10")["nDCG@10"]
    assert len(found) == 1
    assert f"differ from a judged one only in {difference}: " in found[0]
    assert found[0].endswith(f"; treated as the same, nDCG@10 is {right:.4f}")


@pytest.mark.parametrize("verb", ["compare", "gate"])
def test_other_verbs_tell_it_too(verb: str) -> None:
    runs = {"a": RUN, "b": renamed(str.lower)}
    found = rs.compare(QRELS, runs, "nDCG@10") if verb == "compare" else rs.gate(QRELS, runs["a"], runs["b"], "nDCG@10")
    assert "RS114" in {w.code for w in found.warnings}


@pytest.mark.parametrize("frames", [False, True], ids=["dicts", "frames"])
def test_one_run_under_two_names(frames: bool) -> None:
    same = {q: dict(reversed(docs.items())) for q, docs in RUN.items()}  # in another order of lines
    runs = {"a": RUN, "b": OTHER, "c": same}
    given: Any = {name: table(run, "score") for name, run in runs.items()} if frames else runs
    assert told("RS115", QRELS, given) == ["a and c hold the same documents with the same scores: 2 runs that are one"]
    (finding,) = rs.check(QRELS, given, "nDCG@10", select=["RS115"])
    assert finding.message.startswith("a and c hold the same")


def test_runs_that_differ_in_what_nobody_judged_are_two() -> None:
    low = {q: docs | {"unjudged": -1.0} for q, docs in RUN.items()}
    other = {q: docs | {"another": -1.0} for q, docs in RUN.items()}
    assert told("RS115", QRELS, {"a": low, "b": other}) == []
    assert list(rs.check(QRELS, {"a": low, "b": other}, "nDCG@10", select=["RS115"])) == []


def test_judgments_and_run_in_each_others_place() -> None:
    (message,) = told("RS116", RUN, QRELS)
    assert message.startswith("most grades are no whole numbers, as if they were scores: were qrels and run swapped?")
    assert [f.code for f in rs.check(RUN, QRELS, "nDCG@10", select=["RS116"])] == ["RS116"]
    halves = {q: {d: g / 2 for d, g in docs.items()} for q, docs in QRELS.items()}
    assert told("RS116", halves, RUN) == []  # a few grades between whole ones are a scale


def test_lists_of_uneven_depth() -> None:
    short = {q: dict(sorted(docs.items(), key=lambda doc: -doc[1])[:5]) for q, docs in OTHER.items()}
    (message,) = told("RS202", QRELS, {"deep": RUN, "short": short}, ["nDCG@10", "P@5"])
    assert message == "short has at most 5 documents a query, and nDCG@10 looks deeper; deep goes down to rank 40"
    assert told("RS202", QRELS, {"deep": RUN, "short": short}, "P@5") == []
    assert told("RS202", QRELS, {"deep": RUN, "short": short}, "nDCG@10", depth=5) == []
    assert told("RS202", QRELS, {"one": short, "two": short}) == []  # alike


def test_unjudged_says_nothing_where_judgments_are_positive_only() -> None:
    clicks = {q: {d: 1 for d, g in docs.items() if g} for q, docs in QRELS.items()}
    assert told("RS204", QRELS, RUN)
    assert told("RS204", clicks, RUN) == []
    (finding,) = rs.check(clicks, RUN, "nDCG@10", select=["RS204"])
    assert finding.severity == "information"
    assert "relevant documents only" in finding.message


# --- queries that are written differently ------------------------------------------------------------------

NUMBERED = {f"{i:03}": {"a": 1, "b": 0} for i in range(12)}
RANKED = {query: {"a": 2.0, "b": 1.0} for query in NUMBERED}
SPELLED = {
    "leading zeros": lambda query: str(int(query)),
    "a prefix": lambda query: f"q{query}",
    "a decimal point": lambda query: f"{query}.0",
    "spaces": lambda query: f"{query} ",
}


@pytest.mark.parametrize("spelling", SPELLED)
@pytest.mark.parametrize("several", [1, 5])
def test_queries_that_are_written_differently_are_told_with_the_effect(spelling: str, several: int) -> None:
    """Some of twelve queries are called otherwise: RR is (12 - n) / 12, and 1 with them taken as the same."""
    write = SPELLED[spelling]
    run = {write(query) if i < several else query: docs for i, (query, docs) in enumerate(RANKED.items())}
    scores = rs.evaluate(NUMBERED, run, "RR")
    assert scores["RR"] == pytest.approx((12 - several) / 12)
    (told,) = (w for w in scores.warnings if w.code == "RS113")
    number = "1 query without judgments differs" if several == 1 else "5 queries without judgments differ"
    assert told.message == (
        f"run: {number} from a judged one only in {spelling}: {write('000')!r} and '000'; treated as the same, RR is 1.0000"
    )
    for verdict in (rs.gate(NUMBERED, RANKED, run, "RR"), rs.compare(NUMBERED, {"x": RANKED, "run": run}, "RR")):
        assert [w.message.partition(": ")[2] for w in verdict.warnings if w.code == "RS113"] == [
            told.message.partition(": ")[2]
        ]


def test_other_queries_are_no_spelling_of_judged_ones() -> None:
    run = {query: docs for query, docs in RANKED.items() if query != "003"} | {"zz": {"a": 1.0}}
    assert "RS113" not in {w.code for w in rs.evaluate(NUMBERED, run, "RR").warnings}


@pytest.mark.parametrize("spelling", SPELLED)
def test_where_no_query_is_judged_the_error_says_in_what_ids_differ(spelling: str) -> None:
    run = {SPELLED[spelling](query): docs for query, docs in RANKED.items()}
    with pytest.raises(rs.DataError, match=f"they differ only in {spelling}: write the ids alike"):
        rs.evaluate(NUMBERED, run, "RR")
