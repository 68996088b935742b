"""trec_eval 9.0.8, called through pytrec_eval: the same number for every query, whatever the engine.

That version reads scores as single precision, so the scores here are exact in it.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankscope as rs
from rankscope.metrics import parse_many

Table = dict[str, dict[str, float]]

CLOSE = 1e-12


def counterparts(level: float | None = None) -> dict[str, Any]:
    """Every metric with a name of trec_eval's, by that name, rounding as version 9 does."""
    out = {}
    for name, metric in parse_many("all_trec"):
        said: dict[str, Any] = {"compat": 9} if hasattr(metric, "compat") else {}
        if level is not None and hasattr(metric, "level"):
            said["level"] = level
        out[name] = metric.having(**said)
    return out


def theirs(pytrec_eval: ModuleType, qrels: Table, run: Table, level: int = 1) -> dict[str, dict[str, float]]:
    """What trec_eval says of every query, by all measures that this build of it has."""
    grades = {query: {doc: int(grade) for doc, grade in docs.items()} for query, docs in qrels.items()}
    measures = pytrec_eval.supported_measures - {"runid", "relstring"}
    return dict(pytrec_eval.RelevanceEvaluator(grades, measures, relevance_level=level).evaluate(run))


def shown(metric: Any, value: float) -> float:
    """A query's value as it enters trec_eval's mean: a geometric mean is kept as a logarithm."""
    return math.log(max(value, 1e-5)) if metric.aggregate == "geometric" else value


def compare(expected: Mapping[str, Mapping[str, float]], ours: rs.Scores, named: dict[str, Any]) -> int:
    """Check each query and measure that both have, and say how many there were."""
    (one,) = ours.runs
    row = {query: i for i, query in enumerate(one.query_ids)}
    count = 0
    for query, values in expected.items():
        for name, value in values.items():
            if name in named:
                got = shown(named[name], float(one.values[named[name]][row[query]]))
                assert got == pytest.approx(value, rel=CLOSE, abs=CLOSE), (query, name)
                count += 1
    return count


def world(seed: int, queries: int, distinct_scores: int) -> tuple[Table, Table]:
    """Queries of every kind: long and of one document, all relevant and none, judged elsewhere only."""
    rng = np.random.default_rng(seed)
    qrels: Table = {}
    run: Table = {}
    for q in range(queries):
        docs = [f"d{i}" for i in rng.permutation(120).tolist()]
        retrieved = docs[: int(rng.choice([1, 2, 5, 17, 80]))]
        scores = (rng.integers(0, distinct_scores, size=len(retrieved)) - distinct_scores // 2) / 8
        run[f"q{q}"] = dict(zip(retrieved, scores.tolist(), strict=True))
        # judged anywhere, or only among what was retrieved, or only elsewhere
        pool = [docs, retrieved, docs[len(retrieved) :]][int(rng.choice(3, p=[0.8, 0.1, 0.1]))]
        judged = rng.choice(pool, size=int(rng.integers(1, len(pool) + 1)), replace=False).tolist()
        scale = [[0, 0, 1], [-2, -1, 0, 0, 1, 2, 3], [0], [-1, 0], [2, 3], [0, 4]][int(rng.integers(6))]
        # one document graded 0 at least: the other tool crashes where all grades are negative
        grades = [max(0, scale[0]), *rng.choice(scale, size=len(judged) - 1).tolist()]
        qrels[f"q{q}"] = dict(zip(judged, map(float, grades), strict=True))
    return qrels, run


def rows(data: Table) -> list[tuple[str, str, float]]:
    return [(query, doc, value) for query, docs in data.items() for doc, value in docs.items()]


def as_dicts(qrels: Table, run: Table, folder: Path) -> tuple[Any, Any]:
    return qrels, run


def as_frames(qrels: Table, run: Table, folder: Path) -> tuple[Any, Any]:
    """Data frames whose rows stand in no order at all."""
    columns = {"query_id": pl.String, "doc_id": pl.String}
    judgments = pl.DataFrame(rows(qrels), schema=columns | {"grade": pl.Float64}, orient="row")
    ranking = pl.DataFrame(rows(run), schema=columns | {"score": pl.Float64}, orient="row")
    return judgments.sample(fraction=1.0, shuffle=True, seed=3), ranking.sample(fraction=1.0, shuffle=True, seed=4)


def as_files(qrels: Table, run: Table, folder: Path) -> tuple[Any, Any]:
    """Files in TREC's format, whose rank column says nothing."""
    said = "".join(f"{query} 0 {doc} {grade:.0f}\n" for query, doc, grade in rows(qrels))
    (folder / "qrels").write_text(said)
    ranked = "".join(f"{query}\tQ0\t{doc}\t1\t{score!r}\ttag\n" for query, doc, score in rows(run))
    (folder / "run").write_text(ranked)
    return folder / "qrels", folder / "run"


SHAPES = {"dicts": as_dicts, "frames": as_frames, "files": as_files}
WORLDS = {"hardly a tie": (11, 320, 1_000_000), "ties": (12, 320, 40), "ties everywhere": (13, 320, 3)}


@pytest.fixture(scope="module")
def pytrec_eval(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("pytrec_eval")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("level", [1, 2])
def test_random_queries(kind: str, shape: str, level: int, pytrec_eval: ModuleType, tmp_path: Path) -> None:
    qrels, run = world(*WORLDS[kind])
    named = counterparts(level)
    ours = rs.evaluate(*SHAPES[shape](qrels, run, tmp_path), list(named.values()))
    count = compare(theirs(pytrec_eval, qrels, run, level), ours, named)
    assert count >= 320 * 66


def test_random_queries_are_of_every_kind() -> None:
    qrels, run = world(*WORLDS["ties"])
    relevant = [sum(grade >= 1 for grade in docs.values()) for docs in qrels.values()]
    assert relevant.count(0) > 20
    assert sum(qrels[q].keys().isdisjoint(run[q]) for q in qrels) > 20
    assert sum(len(docs) == 1 for docs in run.values()) > 20
    assert sum(min(docs.values()) < 0 for docs in qrels.values()) > 20
    assert sum(len(set(docs.values())) < len(docs) for docs in run.values()) > 100


@pytest.mark.parametrize("gain", ["exponential", {1: 3, 2: 9}, {1: 3, 2: 9, 4: 4}, {1: 5, 2: 1, 3: 2, 4: 0}, {3: 100}])
@pytest.mark.parametrize("shape", ["dicts", "frames"])
def test_gains(gain: Any, shape: str, pytrec_eval: ModuleType, tmp_path: Path) -> None:
    """A gain is a grade by another name: given the gains as grades, the other tool says the same."""
    qrels, run = world(*WORLDS["ties"])

    def worth(grade: float) -> float:
        return grade if grade < 0 else 2**grade - 1 if gain == "exponential" else gain.get(grade, grade)

    renamed = {query: {doc: worth(grade) for doc, grade in docs.items()} for query, docs in qrels.items()}
    named = {name: m.having(gain=gain) for name, m in counterparts().items() if name.startswith("ndcg")}
    ours = rs.evaluate(*SHAPES[shape](qrels, run, tmp_path), list(named.values()))
    assert compare(theirs(pytrec_eval, renamed, run), ours, named) == 320 * 11
    plainly = rs.evaluate(qrels, run, ["ndcg"]).runs[0].values[rs.nDCG()]
    assert (plainly != ours.runs[0].values[named["ndcg"]]).sum() > 30


queries = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, -1.0]), min_size=n, max_size=n),
        st.lists(st.sampled_from([None, 0, 0, 1, 1, 2, 3, -1]), min_size=n, max_size=n),
        st.lists(st.sampled_from([0, 1, 2, -1]), max_size=5),
        st.permutations(range(n)),
    )
)


@settings(max_examples=100, deadline=None)
@given(queries, st.sampled_from([1, 2]))
def test_small_queries(pytrec_eval: ModuleType, query: Any, level: int) -> None:
    scores, grades, elsewhere, names = query
    run = {"q": {f"d{name}": score for name, score in zip(names, scores, strict=True)}}
    judged = {f"d{name}": float(g) for name, g in zip(names, grades, strict=True) if g is not None}
    qrels = {"q": judged | {f"e{i}": float(grade) for i, grade in enumerate(elsewhere)} | {"zero": 0.0}}
    named = counterparts(level)
    for shape in (as_dicts, as_frames):
        ours = rs.evaluate(*shape(qrels, run, Path()), list(named.values()))
        assert compare(theirs(pytrec_eval, qrels, run, level), ours, named) >= 66


ROBUST = ("NLPR03vb10", "SABIR03BASE", "VTcdhgp1", "aplrob03a", "humR03dc", "pircRBa1", "uic0301")
COVID = ("ixa-ir-filter-query", "RUIR-doc2vec", "yn-r1-concepttext")


@pytest.mark.parametrize("shape", ["files", "dicts"])
@pytest.mark.parametrize(
    ("qrels", "path"),
    [
        *(("robust03/robust03_qrels.txt.gz", f"robust03/runs/input.{run}.gz") for run in ROBUST),
        ("robust03/mod_robust03_qrels.txt.gz", "robust03/runs/input.SABIR03BASE.gz"),
        *(("trec_covid/qrels.txt", f"trec_covid/round1/runs/{run}.gz") for run in COVID),
    ],
)
def test_real_runs(
    qrels: str, path: str, shape: str, pytrec_eval: ModuleType, shared_data: Callable[[str], Path]
) -> None:
    judgments, ranking = shared_data(qrels), shared_data(path)
    grades, scores = dict_of(judgments, 3), dict_of(ranking, 4)
    # scores as the other tool sees them
    single = {q: {d: float(np.float32(s)) for d, s in docs.items()} for q, docs in scores.items()}
    inputs: tuple[Any, Any] = (grades, single) if shape == "dicts" else (judgments, ranking)
    named = counterparts()
    ours = rs.evaluate(*inputs, list(named.values()), queries="both")
    expected = theirs(pytrec_eval, grades, single)
    assert compare(expected, ours, named) >= len(expected) * 66
    assert len(expected) == len(ours.runs[0].query_ids) == (30 if "covid" in path else 100)


def dict_of(path: Path, column: int) -> Table:
    """A file read by splitting its lines, nothing of ours."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    out: Table = {}
    for line in text.splitlines():
        fields = line.split()
        out.setdefault(fields[0], {})[fields[2]] = float(fields[column])
    return out
