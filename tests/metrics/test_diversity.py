"""Novelty and coverage: worked arithmetic, and the definitions written out as plain loops."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.metrics import (
    AP,
    AP_IA,
    ERR_IA,
    NRBP,
    P_IA,
    Metric,
    P,
    StRecall,
    alpha_DCG,
    alpha_nDCG,
    nDCG,
    nERR_IA,
    nNRBP,
)

Judgments = dict[str, dict[str, dict[str, float]]]
Ranked = dict[str, dict[str, float]]

ALL = (AP_IA, ERR_IA, NRBP, P_IA, StRecall, alpha_DCG, alpha_nDCG, nERR_IA, nNRBP)
GREEDY = (alpha_nDCG, nERR_IA, nNRBP)
log2 = math.log2


def about(*documents: str) -> list[dict[str, int]]:
    """Documents by the subtopics they are about: ``about("ab", "")`` are two, the second about none."""
    return [dict.fromkeys(subtopics, 1) or {"a": 0} for subtopics in documents]


# --- worked by hand ----------------------------------------------------------------------------------


def test_jaguar() -> None:
    """Ten pages about the car are a perfect ranking, until somebody asks about the animal."""
    pages = about(*["c"] * 10)
    asked = pages + about("a", "f")
    assert (nDCG @ 10).of([1] * 10) == 1
    assert (StRecall @ 10).of(pages, ideal=asked) == 1 / 3
    assert (P_IA @ 10).of(pages, ideal=asked) == pytest.approx(1 / 3)
    assert AP_IA().of(pages, ideal=asked) == pytest.approx(1 / 3)
    # the greedy ranking shows each meaning once, then the car again, always worth half
    halves = sum(0.5 ** (rank - 1) / log2(rank + 1) for rank in range(1, 11))
    again = sum(0.5 ** (rank - 3) / log2(rank + 1) for rank in range(4, 11))
    best = 1 / log2(2) + 1 / log2(3) + 1 / log2(4) + again
    assert (alpha_nDCG @ 10).of(pages, ideal=asked) == pytest.approx(halves / best)
    assert (alpha_DCG @ 10).of(pages, ideal=asked) == pytest.approx(halves / (3 * halves))


def test_example_of_the_paper() -> None:
    """Clarke et al. 2008, on the Norwegian cruise line: gains 2 1/2 1/4 0 2 1/2 1 1/4, at best 2 2 1 1/2 1/2 1/4 1/4."""
    ranking = about("bd", "b", "b", "", "ac", "a", "f", "a", "", "")
    gains = [2, 1 / 2, 1 / 4, 0, 2, 1 / 2, 1, 1 / 4]
    best = [2, 2, 1, 1 / 2, 1 / 2, 1 / 4, 1 / 4]
    found = [sum(g / log2(r + 1) for r, g in enumerate(gains[:k], start=1)) for k in range(1, 9)]
    ideal = [sum(g / log2(r + 1) for r, g in enumerate(best[:k], start=1)) for k in range(1, 9)]
    # as printed there
    assert found == pytest.approx([2, 2.315, 2.440, 2.440, 3.214, 3.392, 3.725, 3.804], abs=0.001)
    assert ideal[:5] == pytest.approx([2, 3.262, 3.762, 3.977, 4.171], abs=0.001)
    for k in range(1, 9):
        assert (alpha_nDCG @ k).of(ranking) == pytest.approx(found[k - 1] / ideal[k - 1])
        of_each = sum(0.5 ** (r - 1) / log2(r + 1) for r in range(1, k + 1))
        assert (alpha_DCG @ k).of(ranking) == pytest.approx(found[k - 1] / (5 * of_each))
    earned = sum(gain * 0.5**r for r, gain in enumerate(gains))
    assert NRBP().of(ranking) == pytest.approx((1 - 0.25) * earned / 5)
    assert nNRBP().of(ranking) == pytest.approx(earned / sum(gain * 0.5**r for r, gain in enumerate(best)))


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 1.0])
def test_one_of_three_subtopics_is_a_third(alpha: float) -> None:
    ideal = about("a", "b", "c")
    for metric in (alpha_DCG(alpha=alpha) @ 1, ERR_IA(alpha=alpha) @ 1):
        assert metric.of(about("a"), ideal=ideal) == pytest.approx(1 / 3)
        assert metric.of(about("abc")) == 1
    assert (alpha_nDCG(alpha=alpha) @ 1).of(about("a"), ideal=ideal) == 1


def test_documents_about_every_subtopic_are_the_most_there_can_be() -> None:
    ranking = about(*["abc"] * 40)
    for metric in (alpha_DCG @ 30, ERR_IA @ 30, P_IA @ 30, StRecall @ 1, AP_IA(), alpha_nDCG(), nERR_IA(), nNRBP()):
        assert metric.of(ranking) == pytest.approx(1)
    assert NRBP(beta=0.8).of(ranking) == pytest.approx(1 - (0.5 * 0.8) ** 40)


def test_cutoffs_of_any_size() -> None:
    ranking = about("a", *[""] * 60, "b")
    ideal = 1 + 1 / 2
    assert (nERR_IA @ 61).of(ranking) == pytest.approx(1 / ideal)
    assert (nERR_IA @ 62).of(ranking) == pytest.approx((1 + 1 / 62) / ideal)
    depth = 1_000_000
    worth = 2 * sum(0.5 ** (r - 1) / r for r in range(1, 200))
    assert (ERR_IA @ depth).of(ranking) == pytest.approx((1 + 1 / 62) / worth)
    worth = 2 * sum(1 / log2(r + 1) for r in range(1, 5001))
    assert (alpha_DCG(alpha=0) @ 5000).of(ranking) == pytest.approx((1 + 1 / log2(63)) / worth)


def test_a_greedy_ranking_can_be_beaten() -> None:
    """It takes the one document that spoils the other two, and is not the best there is."""
    qrels = {"q": {"ab": {"a": 1, "b": 1}, "cd": {"c": 1, "d": 1}, "zz": {"a": 1, "c": 1}}}
    run = {"q": {"ab": 2.0, "cd": 1.0}}
    metric = alpha_nDCG(alpha=0.9) @ 2
    expected = (2 + 2 / log2(3)) / (2 + (1 + 0.1) / log2(3))
    assert 1 < expected < metric.range[1] == pytest.approx(math.e / (math.e - 1))
    assert value_of(metric, qrels, run) == pytest.approx(expected)
    # under another name it is not the first to be taken
    qrels["q"]["aa"] = qrels["q"].pop("zz")
    assert value_of(metric, qrels, run) == pytest.approx(1)
    assert (alpha_nDCG @ 1).range == alpha_nDCG(alpha=0).range == (0, 1)


def test_subtopics_that_no_document_is_about_do_not_count() -> None:
    ranking = [{"a": 1, "b": 0, "c": -2}, {"a": 0, "b": 0}]
    for cls in ALL:
        metric = cls() if cls in (AP_IA, NRBP, nNRBP) else cls() @ 1
        assert metric.of(ranking) == pytest.approx(0.75 if cls is NRBP else 1)
        assert metric.of([{"a": 0, "b": -1}]) == metric.of([None]) == 0


def test_grades_count_from_the_level_on() -> None:
    ranking = [{"a": 1}, {"a": 2, "b": 1}, {"b": 3}]
    assert [StRecall(level=level, cutoff=2).of(ranking) for level in (1, 2, 3, 4)] == [1, 1 / 2, 0, 0]
    assert AP_IA(level=2).of(ranking) == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert (alpha_nDCG(level=2) @ 3).of(ranking) == pytest.approx((1 / log2(3) + 1 / 2) / (1 + 1 / log2(3)))


def test_patience_without_end() -> None:
    ranking, ideal = about("a", "", "b"), about("a", "b", "b")
    assert NRBP(alpha=0, beta=1).of(ranking, ideal=ideal) == 0
    assert nNRBP(alpha=0, beta=1).of(ranking, ideal=ideal) == pytest.approx(2 / 3)
    assert NRBP(alpha=1, beta=1).of(ranking, ideal=ideal) == 1
    assert NRBP(beta=0).of(ranking, ideal=ideal) == 1 / 2


# --- names and inputs --------------------------------------------------------------------------------


def test_names_that_other_tools_use() -> None:
    for text, metric in {
        "alpha-nDCG@10": alpha_nDCG @ 10,
        "alpha-DCG@20": alpha_DCG @ 20,
        "ERR-IA@5": ERR_IA @ 5,
        "nERR-IA@5": nERR_IA @ 5,
        "P-IA@5": P_IA @ 5,
        "MAP-IA": AP_IA(),
        "MAP_IA": AP_IA(),
        "strec@10": StRecall @ 10,
        "alpha_nDCG(alpha=0.25,rel=2)@10": alpha_nDCG(alpha=0.25, level=2) @ 10,
        "NRBP(alpha=0.1,beta=0.8,rel=2)": NRBP(alpha=0.1, beta=0.8, level=2),
        "nERR_IA(judged_only=True)@5": nERR_IA(judged_only=True) @ 5,
    }.items():
        assert rs.parse(text) == metric


@pytest.mark.parametrize("cls", [P_IA, ERR_IA, alpha_DCG])
def test_what_divides_by_the_cutoff_needs_one(cls: type[Metric]) -> None:
    with pytest.raises(InputError, match="cutoff"):
        rs.parse(cls.__name__)


@pytest.mark.parametrize("cls", ALL)
def test_only_a_greedy_ranking_looks_at_ids(cls: type[Metric]) -> None:
    metric = cls() if cls in (AP_IA, NRBP, nNRBP) else cls() @ 1
    assert metric.needs == {"subtopics"} | ({"identities"} if cls in GREEDY else set())
    assert not metric.monotone


def test_qrels_without_subtopics_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("q1 0 d1 1\nq1 0 d2 0\n")
    for qrels in (path, {"q1": {"d1": 1, "d2": 0}}):
        with pytest.raises(InputError, match="subtopic"):
            rs.evaluate(qrels, {"q1": {"d1": 1.0}}, ["alpha_nDCG@10"])


# --- the definitions as plain loops ------------------------------------------------------------------


def world(seed: int, queries: int = 40) -> tuple[Judgments, Ranked]:
    """Queries of all sizes; documents graded on some subtopics, pooled, unjudged, not retrieved."""
    rng = np.random.default_rng(seed)
    qrels: Judgments = {}
    run: Ranked = {}
    for q in range(queries):
        subtopics = [f"s{i}" for i in rng.permutation(12)[: int(rng.integers(1, 10))].tolist()]
        names = [f"{rng.choice(list('aZ-'))}{i}" for i in rng.permutation(90)[: int(rng.integers(2, 60))].tolist()]
        scale = [[0, 0, 0, 1], [-2, -1, 0, 1, 2], [0], [1, 2, 3], [-1]][int(rng.integers(5))]
        judged = names[: max(1, len(names) * 2 // 3)]
        qrels[f"q{q}"] = {
            doc: {s: float(rng.choice(scale)) for s in subtopics if s == subtopics[0] or rng.random() < 0.7}
            for doc in judged
        }
        shown = rng.permutation(names).tolist()[: int(rng.integers(1, len(names) + 1))]
        run[f"q{q}"] = {doc: float(-rank) for rank, doc in enumerate(shown)}
    return qrels, run


def value_of(metric: Metric, qrels: Any, run: Any) -> float:
    (one,) = rs.evaluate(qrels, run, [metric]).runs
    return float(one.values[metric][0])


def gain_of(subtopics: set[str], met: Counter[str], alpha: float) -> Fraction:
    left = 1 - Fraction(str(alpha))
    return sum((left ** met[s] for s in subtopics), start=Fraction(0))


def gains_of(documents: list[set[str]], alpha: float) -> list[Fraction]:
    met: Counter[str] = Counter()
    out = []
    for subtopics in documents:
        out.append(gain_of(subtopics, met, alpha))
        met.update(subtopics)
    return out


def greedy(judged: dict[str, set[str]], alpha: float) -> list[Fraction]:
    left = {doc: subtopics for doc, subtopics in judged.items() if subtopics}
    met: Counter[str] = Counter()
    out = []
    while left:
        name = max(left, key=lambda d: (gain_of(left[d], met, alpha), d.encode()))
        out.append(gain_of(left[name], met, alpha))
        met.update(left.pop(name))
    return out


def discount_of(metric: Any, rank: int) -> float:
    if isinstance(metric, NRBP | nNRBP):
        return float(metric.beta ** (rank - 1))
    return 1 / rank if isinstance(metric, ERR_IA | nERR_IA) else 1 / log2(rank + 1)


def written_out(metric: Any, graded: dict[str, dict[str, float]], ranking: list[str]) -> float:
    """The value of one query, by its definition."""
    judged = {d: {s for s, g in of.items() if g >= max(metric.level, 0)} for d, of in graded.items()}
    if metric.judged_only:
        ranking = [d for d in ranking if max(graded.get(d, {"": -1.0}).values()) >= 0]
    shown = [judged.get(d, set()) for d in ranking][: metric.cutoff]
    known = {s: sum(s in of for of in judged.values()) for of in judged.values() for s in of}
    if not known:
        return 0.0
    if isinstance(metric, StRecall):
        return len(set().union(*shown)) / len(known)
    if isinstance(metric, P_IA):
        return math.fsum((P @ metric.cutoff).of([s in of for of in shown]) for s in known) / len(known)
    if isinstance(metric, AP_IA):
        return math.fsum(AP().of([s in of for of in shown], known=n) for s, n in known.items()) / len(known)
    alpha = float(metric.alpha)
    gains = gains_of(shown, alpha)

    def discounted(gains: list[Fraction]) -> float:
        return sum(float(gain) * discount_of(metric, rank) for rank, gain in enumerate(gains, start=1))

    if isinstance(metric, NRBP):
        return (1 - (1 - alpha) * float(metric.beta)) * discounted(gains) / len(known)
    if isinstance(metric, ERR_IA | alpha_DCG):
        return discounted(gains) / discounted(gains_of([set(known)] * int(metric.cutoff or 0), alpha))
    return discounted(gains) / discounted(greedy(judged, alpha)[: metric.cutoff])


def every(cls: Any) -> list[Metric]:
    needs_k = cls in (P_IA, ERR_IA, alpha_DCG)
    out = [cls(cutoff=k) for k in ((1, 3, 25, 100) if needs_k else (None, 1, 3, 25))]
    out += [cls(cutoff=4, level=level, judged_only=closed) for level in (0, 2) for closed in (True, False)]
    if hasattr(out[0], "alpha"):
        out += [cls(cutoff=20, alpha=alpha) for alpha in (0, 0.1, 0.3, 0.9, 1)]
    if hasattr(out[0], "beta"):
        out += [cls(beta=beta) for beta in (0, 0.9)]
    return out


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("shape", ["dicts", "file", "frame"])
def test_definitions(cls: Any, shape: str, tmp_path: Path) -> None:
    qrels, run = world(ALL.index(cls))
    metrics = every(cls)
    given: Any = qrels
    rows = [(q, s, d, g) for q, docs in qrels.items() for d, of in docs.items() for s, g in of.items()]
    order = np.random.default_rng(1).permutation(len(rows)).tolist()
    if shape == "file":
        given = tmp_path / "qrels"
        given.write_text("".join("{} {} {} {:g}\n".format(*rows[i]) for i in order))
    elif shape == "frame":
        names = ["query_id", "subtopic", "doc_id", "grade"]
        given = pl.DataFrame([rows[i] for i in order], schema=names, orient="row")
    (one,) = rs.evaluate(given, run, metrics).runs
    row = {query: i for i, query in enumerate(one.query_ids)}
    compared = 0
    for metric in metrics:
        for query, graded in qrels.items():
            ranking = sorted(run[query], key=run[query].__getitem__, reverse=True)
            value = float(one.values[metric][row[query]])
            assert value == pytest.approx(written_out(metric, graded, ranking), abs=1e-12), (metric, query)
            compared += value not in (0, 1)
    assert compared > 60
