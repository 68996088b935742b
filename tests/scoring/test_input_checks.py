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
    assert message.startswith("most grades are not whole numbers, as if they were scores: were qrels and run swapped?")
    assert [f.code for f in rs.check(RUN, QRELS, "nDCG@10", select=["RS116"])] == ["RS116"]
    halves = {q: {d: g / 2 for d, g in docs.items()} for q, docs in QRELS.items()}
    assert told("RS116", halves, RUN) == []  # a few grades between whole ones are a scale


def test_lists_of_uneven_depth() -> None:
    short = {q: dict(sorted(docs.items(), key=lambda doc: -doc[1])[:5]) for q, docs in OTHER.items()}
    (message,) = told("RS202", QRELS, {"deep": RUN, "short": short}, ["nDCG@10", "P@5"])
    assert message == "short has at most 5 documents per query, and nDCG@10 looks deeper; deep goes down to rank 40"
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
SPELLED: dict[str, Any] = {
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


@pytest.mark.filterwarnings("error")
def test_lazy_frames_are_told_the_same_and_warn_of_nothing_else() -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}, "q2.0": {"b": 1.0}}
    lazy = pl.LazyFrame({"query_id": ["q1", "q2.0"], "doc_id": ["a", "b"], "score": [1.0, 1.0]})
    told = rs.evaluate(qrels, run, "RR").warnings
    assert rs.evaluate(qrels, lazy, "RR").warnings == told
    assert "RS113" in {caution.code for caution in told}


def test_other_queries_are_no_spelling_of_judged_ones() -> None:
    run = {query: docs for query, docs in RANKED.items() if query != "003"} | {"zz": {"a": 1.0}}
    assert "RS113" not in {w.code for w in rs.evaluate(NUMBERED, run, "RR").warnings}


@pytest.mark.parametrize("spelling", SPELLED)
def test_where_no_query_is_judged_the_error_says_in_what_ids_differ(spelling: str) -> None:
    run = {SPELLED[spelling](query): docs for query, docs in RANKED.items()}
    with pytest.raises(rs.DataError, match=f"they differ only in {spelling}: write the ids alike"):
        rs.evaluate(NUMBERED, run, "RR")


# --- documents with more or less around their ids --------------------------------------------------------


@pytest.mark.parametrize("of_run", [True, False], ids=["in the run", "in the judgments"])
@pytest.mark.parametrize(
    ("what", "spell"),
    [
        ("a prefix", lambda doc: f"x-{doc}"), ("a prefix", lambda doc: f"col.2 {doc}"), ("a prefix", lambda doc: f"http://a.b/{doc}"),
        ("a suffix", lambda doc: f"{doc}_v2.1"), ("a suffix", lambda doc: f"{doc} (copy)"),
    ],
    ids=["letters before", "a name with signs before", "an address before", "a version behind", "words behind"],
)  # fmt: skip
def test_a_prefix_or_suffix_is_told_with_the_effect(what: str, spell: Any, of_run: bool) -> None:
    qrels = QRELS if of_run else {q: {spell(d): g for d, g in docs.items()} for q, docs in QRELS.items()}
    run = renamed(spell) if of_run else RUN
    (message,) = told("RS114", qrels, run)
    assert f"differ from a judged one only in {what}: " in message
    value = rs.evaluate(QRELS, RUN, "nDCG@10")["nDCG@10"]
    assert message.endswith(f"; treated as the same, nDCG@10 is {value:.4f}")


def test_ids_that_only_end_alike_are_other_documents() -> None:
    """Numbers before numbers are other numbers, and six ids are few enough to be chance."""
    numbers = {q: {str(j): int(j % 3 == 0) for j in range(10, 30)} for q in QUERIES}
    assert told("RS114", numbers, {q: {f"9{j}": float(j) for j in range(10, 40)} for q in QUERIES}) == []
    few = {"q0": {"a": 1, "b": 0, "c": 0}}
    assert told("RS114", few, {"q0": {"x-a": 2.0, "y": 1.0, "z": 0.5}}) == []


def test_chunks_are_told_with_the_pattern_that_folds_them_and_what_that_gives() -> None:
    chunks = {q: {f"{d}#{j}": s - j for d, s in docs.items() for j in range(2)} for q, docs in RUN.items()}
    (warning,) = (w for w in rs.evaluate(QRELS, chunks, "R@5").warnings if w.code == "RS114")
    folded = rs.evaluate(QRELS, chunks, "R@5", fold_by="#[0-9]+$")["R@5"]
    assert f"(fold_by='#[0-9]+$' folds them); folded, R@5 is {folded:.4f}" in warning.message
    assert folded > 0
    assert "fold_by=PATTERN" in warning.hint


def test_a_run_that_finds_nothing_that_was_judged_is_told() -> None:
    strangers = {q: {f"n{j}": float(j) for j in range(30)} for q in QUERIES}
    judged = sum(map(len, QRELS.values()))
    (message,) = told("RS111", QRELS, strangers)
    assert (
        message
        == f"run: none of {judged} judged documents is retrieved for any query, so nDCG@10 does not measure the run"
    )
    assert told("RS111", QRELS, RUN) == told("RS111", QRELS, renamed(str.lower)) == []


# --- queries that score as empty, with their cost ---------------------------------------------------------


def test_queries_without_a_ranking_are_told_with_what_the_metric_is_over_the_others() -> None:
    """Three of twelve queries are missing or empty; the others are those of the whole run."""
    part = {q: docs for q, docs in RUN.items() if q not in QUERIES[:3]}
    rest = rs.evaluate({q: QRELS[q] for q in part}, part, ["nDCG@10", "AP"])
    for code, run in (("RS101", part), ("RS106", {**{q: {} for q in QUERIES[:3]}, **part})):
        (message,) = told(code, QRELS, {"b": OTHER, "a": run}, ["nDCG@10", "AP"])
        assert message.endswith(f", scored as empty; nDCG@10 is {rest['nDCG@10']:.4f} over the other 9")
        assert rest["nDCG@10"] > rs.evaluate(QRELS, run, "nDCG@10")["nDCG@10"]


@pytest.mark.parametrize("metric", ["NumRelRet", "GMAP"])
def test_sums_and_geometric_means_are_not_told_over_other_queries(metric: str) -> None:
    (message,) = told("RS101", QRELS, {q: docs for q, docs in RUN.items() if q != "q3"}, metric)
    assert message.endswith("scored as empty")
