"""cwl-eval: the metrics of readers who stop, the figures published with it, and where fractions mislead it."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rankscope as rs

CLOSE = 1e-12

Gains = list[float]


@pytest.fixture(scope="module")
def ruler(need: Callable[[str], ModuleType]) -> Any:
    return need("cwl.ruler.cwl_ruler")


@pytest.fixture(scope="module")
def ranked(need: Callable[[str], ModuleType]) -> Callable[[Gains, int], Any]:
    """A ranking as the other tool takes it: a gain for each rank, NaN where nobody judged."""
    ranking = need("cwl.ruler.ranking").Ranking

    def make(gains: Gains, horizon: int) -> Any:
        return ranking("q", np.array(gains), np.ones(len(gains)), max_n=horizon)

    return make


# --- the figures

COLUMNS = ("T1", "T2", "T3")
SAME_NAME = {"AP", "P", "RR", "RBP"}


def published(path: Path) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Each metric of the table with its figures by topic; a line may hold the same metric at several cutoffs."""
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) != 1 + len(COLUMNS) or cells[0] in {"metric", "---"}:
            continue
        names = re.sub(r" \(.*", "", cells[0]).split(", ")
        for number, name in enumerate(names):
            yield name, tuple(float(cell.split(", ")[number]) for cell in cells[1:])


def ours(name: str) -> rs.Metric:
    """The metric of that name, on a scale of 0 and 1."""
    base, inside, cut = re.fullmatch(r"(\w+)(?:\((.*)\))?(@\d+)?", name).groups("")  # type: ignore[union-attr]
    said = [inside] if inside else []
    said += [] if base in SAME_NAME else ["max_grade=1"]
    return rs.parse(f"{base}({', '.join(said)}){cut}")


def test_the_published_figures(shared_data: Callable[[str], Path]) -> None:
    figures = dict(published(shared_data("ir_measures/expected.md")))
    assert len(figures) == 18
    metrics = {name: ours(name) for name in figures}
    files = shared_data("ir_measures/cwl.qrels"), shared_data("ir_measures/cwl.run")
    (scores,) = rs.evaluate(*files, list(metrics.values())).runs
    assert tuple(scores.query_ids) == COLUMNS
    for name, metric in metrics.items():
        assert scores.values[metric] == pytest.approx(figures[name], abs=0.51e-4), name


# --- the same numbers, on rankings of all kinds and on real ones


def counterparts(ruler: Any, top: int, horizon: int) -> list[tuple[Any, rs.Metric]]:
    """Their metrics and ours. Where theirs know no horizon of their own, the depth of the ranking is one."""
    deep = {"horizon": horizon, "max_grade": top}
    said = {"max_grade": top}
    return [
        (ruler.BPMCWLMetric(1.0, 20), rs.parse("BPM(max_grade=9)@20").having(**said)),
        (ruler.BPMCWLMetric(2.5, 10), rs.parse("BPM(T=2.5, max_grade=9)@10").having(**said)),
        (ruler.NERReq8CWLMetric(10), rs.parse("NERR8(max_grade=9)@10").having(**said)),
        (ruler.NERReq9CWLMetric(10), rs.parse("NERR9(max_grade=9)@10").having(**said)),
        (ruler.NERReq9CWLMetric(1), rs.parse("NERR9(max_grade=9)@1").having(**said)),
        (ruler.NDCGCWLMetric(10), rs.parse("SDCG(max_grade=9)@10").having(**said)),
        (ruler.NERReq10CWLMetric(0.9), rs.parse("NERR10(max_grade=9)").having(**deep)),
        (ruler.NERReq10CWLMetric(0.5), rs.parse("NERR10(p=0.5, max_grade=9)").having(**deep)),
        (ruler.NERReq11CWLMetric(1.0), rs.parse("NERR11(max_grade=9)").having(**deep)),
        (ruler.NERReq11CWLMetric(3.0), rs.parse("NERR11(T=3, max_grade=9)").having(**deep)),
        (ruler.INSQCWLMetric(1.0), rs.parse("INSQ(max_grade=9)").having(**deep)),
        (ruler.INSQCWLMetric(0.3), rs.parse("INSQ(T=0.3, max_grade=9)").having(**deep)),
        (ruler.INSTCWLMetric(1.0), rs.parse("INST(max_grade=9)").having(**deep)),
        (ruler.INSTCWLMetric(2.5), rs.parse("INST(T=2.5, max_grade=9)").having(**deep)),
        (ruler.INSTCWLMetric(0.5), rs.parse("INST(T=0.5, max_grade=9)").having(**deep)),
    ]


@pytest.mark.parametrize("horizon", [1000, 30])
@pytest.mark.parametrize("top", [1, 2, 4])
def test_random_rankings(top: int, horizon: int, ruler: Any, ranked: Callable[[Gains, int], Any]) -> None:
    rng = np.random.default_rng(top)
    grades = [None, *range(top + 1)]
    rankings = [[grades[i] for i in rng.integers(len(grades), size=int(rng.integers(1, 60)))] for _ in range(60)]
    for theirs, metric in counterparts(ruler, top, horizon):
        values = metric.of(rankings)
        expected = [
            theirs.measure(ranked([math.nan if g is None else g / top for g in ranking], horizon))
            for ranking in rankings
        ]
        assert values == pytest.approx(expected, rel=CLOSE, abs=CLOSE), metric
        assert len(set(expected)) > 1


RUNS = (
    ("trec_covid/qrels.txt", "trec_covid/round1/runs/ixa-ir-filter-query.gz"),
    ("trec_covid/qrels.txt", "trec_covid/round1/runs/sab20.1.meta.docs.gz"),
    ("robust03/robust03_qrels.txt.gz", "robust03/runs/input.aplrob03a.gz"),
)
QUERIES = 30


def rows(path: Path) -> list[list[str]]:
    data = path.read_bytes()
    return [line.split() for line in (gzip.decompress(data) if path.suffix == ".gz" else data).decode().splitlines()]


@pytest.mark.parametrize(("qrels", "run"), RUNS)
def test_real_runs(
    qrels: str, run: str, ruler: Any, ranked: Callable[[Gains, int], Any], shared_data: Callable[[str], Path]
) -> None:
    """The other tool takes the order of the file, whatever the scores; here the scores fall in that order."""
    judged: dict[str, dict[str, float]] = {}
    for query, _, doc, grade in rows(shared_data(qrels)):
        judged.setdefault(query, {})[doc] = float(grade)
    lists: dict[str, list[str]] = {}
    for query, _, doc, *_ in rows(shared_data(run)):
        lists.setdefault(query, []).append(doc)
    queries = [query for query in lists if query in judged][:QUERIES]
    assert max(len(lists[query]) for query in queries) == 1000
    scores = {q: {doc: -float(rank) for rank, doc in enumerate(lists[q])} for q in queries}
    pairs = counterparts(ruler, 2, 1000)
    (got,) = rs.evaluate(judged, scores, [metric for _, metric in pairs], queries="both").runs
    found = [
        ranked([max(judged[query][doc], 0) / 2 if doc in judged[query] else math.nan for doc in lists[query]], 1000)
        for query in got.query_ids
    ]
    assert len(found) == QUERIES
    for theirs, metric in pairs:
        expected = [theirs.measure(ranking) for ranking in found]
        assert got.values[metric] == pytest.approx(expected, rel=CLOSE, abs=CLOSE), metric


def test_metrics_that_both_have_under_another_family(ruler: Any, ranked: Callable[[Gains, int], Any]) -> None:
    rng = np.random.default_rng(9)
    rankings = [rng.choice([0.0, 1.0], p=[0.7, 0.3], size=40).tolist() for _ in range(50)]
    pairs = [
        (ruler.PrecisionCWLMetric(10), rs.P @ 10),
        (ruler.RRCWLMetric(), rs.RR()),
        (ruler.RBPCWLMetric(0.9), rs.RBP(p=0.9)),
        # theirs divides by the relevant documents that were retrieved
        (ruler.APCWLMetric(), rs.AP(denominator="hits_at_k")),
    ]
    for theirs, metric in pairs:
        expected = [theirs.measure(ranked(ranking, 1000)) for ranking in rankings]
        assert metric.of(rankings) == pytest.approx(expected, rel=CLOSE), metric


# --- a defect: gains are divided by the top grade first, and then added up


def test_six_thirds_are_less_than_two_for_them(ruler: Any, ranked: Callable[[Gains, int], Any]) -> None:
    """Their reader wants a gain of 2, has met six documents of gain 1/3, and goes on to a seventh."""
    grades = [1] * 6 + [3]
    theirs = ruler.BPMCWLMetric(2.0, 10).measure(ranked([grade / 3 for grade in grades], 1000))
    assert theirs == pytest.approx(3 / 7)
    assert rs.parse("BPM(T=2, max_grade=3)@10").of(grades) == pytest.approx(2 / 6)
