"""ndeval, called through pyndeval: the same number for every query of TREC's diversity judgments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.metrics import AP_IA, ERR_IA, NRBP, P_IA, Metric, StRecall, alpha_DCG, alpha_nDCG, nERR_IA, nNRBP

Judgments = dict[str, dict[str, dict[str, int]]]
Ranked = dict[str, dict[str, float]]

CLOSE = 1e-9
YEARS = ("201-250", "251-300")
ALPHAS = (0.0, 0.25, 0.5, 0.9)
CUTOFFS = (2, 5, 10, 20)


@pytest.fixture(scope="module")
def pyndeval(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("pyndeval")


def counterparts(
    alpha: float = 0.5, beta: float = 0.5, level: int = 1, cutoffs: tuple[int, ...] = CUTOFFS
) -> dict[str, Metric]:
    """Every measure of ndeval's, by its name there."""
    out: dict[str, Metric] = {
        "NRBP": NRBP(alpha=alpha, beta=beta, level=level),
        "nNRBP": nNRBP(alpha=alpha, beta=beta, level=level),
        "MAP-IA": AP_IA(level=level),
    }
    for k in cutoffs:
        out[f"ERR-IA@{k}"] = ERR_IA(alpha=alpha, level=level) @ k
        out[f"nERR-IA@{k}"] = nERR_IA(alpha=alpha, level=level) @ k
        out[f"alpha-DCG@{k}"] = alpha_DCG(alpha=alpha, level=level) @ k
        out[f"alpha-nDCG@{k}"] = alpha_nDCG(alpha=alpha, level=level) @ k
        out[f"P-IA@{k}"] = P_IA(level=level) @ k
        out[f"strec@{k}"] = StRecall(level=level) @ k
    return out


def read(path: Path) -> Judgments:
    """The judgments, read by splitting lines, nothing of ours."""
    out: Judgments = {}
    for line in path.read_text().splitlines():
        query, subtopic, doc, grade = line.split()
        out.setdefault(query, {}).setdefault(doc, {})[subtopic] = int(grade)
    return out


def made_run(qrels: Judgments, seed: int, distinct: bool = True) -> Ranked:
    """Judged and unjudged documents in any order, of several lengths; one query in ten is missing."""
    rng = np.random.default_rng(seed)
    run: Ranked = {}
    for query, graded in qrels.items():
        if rng.random() < 0.1:
            continue
        docs = rng.permutation([*graded, *(f"unjudged-{i}" for i in range(len(graded) // 4))]).tolist()
        docs = docs[: int(rng.choice([1, 4, 15, 60, 5000]))]
        scores = rng.permutation(len(docs)) if distinct else rng.integers(0, 4, size=len(docs))
        run[query] = dict(zip(docs, map(float, scores.tolist()), strict=True))
    return run


def rows_of_qrels(qrels: Judgments) -> list[tuple[str, str, str, int]]:
    return [(q, s, d, g) for q, docs in qrels.items() for d, graded in docs.items() for s, g in graded.items()]


def rows_of_run(run: Ranked) -> list[tuple[str, str, float]]:
    return [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]


def theirs(
    pyndeval: ModuleType, qrels: Judgments, run: Ranked, names: Any, level: int = 1, **said: float
) -> dict[str, dict[str, float]]:
    judge = pyndeval.RelevanceEvaluator(rows_of_qrels(qrels), list(names), relevance_level=level, **said)
    return dict(judge.evaluate(rows_of_run(run)))


def difference(
    expected: Mapping[str, Mapping[str, float]], ours: rs.Scores, named: Mapping[str, Metric]
) -> tuple[float, int]:
    """The largest difference between two values of a query, and how many were compared."""
    (one,) = ours.runs
    row = {query: i for i, query in enumerate(one.query_ids)}
    worst, count = 0.0, 0
    for query, values in expected.items():
        for name, value in values.items():
            got = float(one.values[named[name]][row[query]])
            # a query without a relevant document has an ideal of 0: nothing out of nothing is 0 here
            want = 0.0 if name == "nNRBP" and math.isnan(value) and not values["strec@20"] else value
            assert not math.isnan(got - want), (query, name)
            worst, count = max(worst, abs(got - want)), count + 1
    return worst, count


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("level", [1, 2])
def test_real_judgments(
    year: str, alpha: float, level: int, pyndeval: ModuleType, shared_data: Callable[[str], Path]
) -> None:
    path = shared_data(f"qrels/qrels.web.{year}.ndeval.txt")
    qrels = read(path)
    for seed, beta in enumerate([0.5, 0.8, 0.0, 0.95]):
        run = made_run(qrels, seed)
        named = counterparts(alpha, beta, level)
        expected = theirs(pyndeval, qrels, run, named, level, alpha=alpha, beta=beta)
        ours = rs.evaluate(path if seed else qrels, run, list(named.values()))
        worst, count = difference(expected, ours, named)
        assert count == len(expected) * len(named) > 1000
        assert worst <= CLOSE


@pytest.mark.parametrize("year", YEARS)
def test_ties(year: str, pyndeval: ModuleType, shared_data: Callable[[str], Path]) -> None:
    """pyndeval orders documents of equal score by rising id."""
    path = shared_data(f"qrels/qrels.web.{year}.ndeval.txt")
    qrels = read(path)
    run, named = made_run(qrels, 11, distinct=False), counterparts()
    expected = theirs(pyndeval, qrels, run, named)
    worst, count = difference(expected, rs.evaluate(path, run, list(named.values()), ties="docid"), named)
    assert worst <= CLOSE
    assert count == len(expected) * len(named)
    assert difference(expected, rs.evaluate(path, run, list(named.values())), named)[0] > 0.1


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_made_up_judgments(alpha: float, pyndeval: ModuleType) -> None:
    """Many documents of equal gain, and ids of any case: the greedy ranking depends on them."""
    rng = np.random.default_rng(int(alpha * 100))
    qrels: Judgments = {}
    for q in range(150):
        subtopics, docs = int(rng.integers(1, 12)), int(rng.integers(1, 60))
        ids = [f"{rng.choice(list('aZ-_0'))}{i}" for i in rng.permutation(100)[:docs].tolist()]
        share = rng.choice([0.1, 0.3, 0.6])
        qrels[f"q{q}"] = {d: {f"s{s}": int(rng.random() < share) for s in range(subtopics)} for d in ids}
    run, named = made_run(qrels, 5), counterparts(alpha)
    expected = theirs(pyndeval, qrels, run, named, alpha=alpha)
    worst, count = difference(expected, rs.evaluate(qrels, run, list(named.values())), named)
    assert count > 3000
    assert worst <= CLOSE


@pytest.mark.parametrize("alpha", ALPHAS)
def test_judged_only(alpha: float, pyndeval: ModuleType, shared_data: Callable[[str], Path]) -> None:
    qrels = read(shared_data("qrels/qrels.web.201-250.ndeval.txt"))
    run, named = made_run(qrels, 21), counterparts(alpha)
    judged = {q: {d: s for d, s in docs.items() if d in qrels[q]} for q, docs in run.items()}
    condensed = {name: metric.having(judged_only=True) for name, metric in named.items()}
    expected = theirs(pyndeval, qrels, judged, named, alpha=alpha)
    ours = rs.evaluate(qrels, run, list(condensed.values()))
    worst, count = difference(expected, ours, condensed)
    assert count > 1000
    assert worst <= CLOSE
    assert difference(expected, rs.evaluate(qrels, run, list(named.values())), named)[0] > 0.1


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_first_rank(alpha: float, pyndeval: ModuleType) -> None:
    """Theirs does not divide by the number of subtopics at a cutoff of 1, as it does at any other."""
    qrels = {"q": {"d1": {"a": 1}, "d2": {"b": 1}, "d3": {"c": 1}}}
    run = {"q": {"d1": 2.0, "nobody judged it": 1.0}}
    named = counterparts(alpha, cutoffs=(1, 2))
    expected = theirs(pyndeval, qrels, run, named, alpha=alpha)["q"]
    (one,) = rs.evaluate(qrels, run, list(named.values())).runs
    ours = {name: float(one.values[metric][0]) for name, metric in named.items()}
    for name in ("alpha-DCG@1", "ERR-IA@1"):
        assert expected[name] == 1
        assert ours[name] == pytest.approx(1 / 3)
    again = 1 - alpha
    assert expected["alpha-DCG@2"] == pytest.approx(1 / (3 * (1 + again / math.log2(3))))
    assert expected["ERR-IA@2"] == pytest.approx(1 / (3 * (1 + again / 2)))
    same = expected.keys() - {"alpha-DCG@1", "ERR-IA@1"}
    assert {name: ours[name] for name in same} == pytest.approx({name: expected[name] for name in same})


def test_equal_gains_in_another_order(pyndeval: ModuleType) -> None:
    """0.1 + 0.1 + 1 is not 1 + 0.1 + 0.1 to a computer: theirs depends on the order of the subtopics, ours on ids."""
    about = {"d0": "abeg", "x9": "abc", "x1": "abd", "z": "ce"}
    run = {"q": {"d0": 4.0, "x1": 3.0, "z": 2.0, "x9": 1.0}}
    named = {"alpha-nDCG@3": alpha_nDCG(alpha=0.9) @ 3}
    values = []
    for order in ("abcdeg", "dabegc"):
        names = {subtopic: str(i) for i, subtopic in enumerate(order)}
        qrels = {"q": {doc: {names[s]: int(s in of) for s in order} for doc, of in about.items()}}
        (one,) = rs.evaluate(qrels, run, list(named.values())).runs
        ours = float(one.values[named["alpha-nDCG@3"]][0])
        values.append((ours, theirs(pyndeval, qrels, run, named, alpha=0.9)["q"]["alpha-nDCG@3"]))
    assert [ours for ours, _ in values] == pytest.approx([values[0][1]] * 2)
    assert values[0][1] != pytest.approx(values[1][1], rel=1e-3)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("alpha", [0.25, 0.5])
def test_names_of_ir_measures(
    alpha: float, level: int, need: Callable[[str], ModuleType], shared_data: Callable[[str], Path]
) -> None:
    """Its spellings read here, and give its values; all measures of a call have one alpha, as its second one would be lost."""
    need("pyndeval")
    ir = need("ir_measures")
    qrels = read(shared_data("qrels/qrels.web.251-300.ndeval.txt"))
    run = made_run(qrels, 31)
    novel = [ir.alpha_DCG, ir.alpha_nDCG]
    asked = [family(alpha=alpha, rel=level) @ k for family in novel for k in (5, 10, 20)]
    asked += [ir.NRBP(alpha=alpha, rel=level), ir.nNRBP(alpha=alpha, rel=level)]
    calls = [asked, [ir.AP_IA(rel=level)]]
    calls[1] += [f(rel=level) @ k for f in (ir.ERR_IA, ir.nERR_IA, ir.P_IA, ir.StRecall) for k in (5, 10, 20)]
    judgments = [ir.Qrel(q, d, g, s) for q, s, d, g in rows_of_qrels(qrels)]
    ranking = [ir.ScoredDoc(*row) for row in rows_of_run(run)]
    for measures in calls:
        named = {str(measure): rs.parse(str(measure)) for measure in measures}
        (one,) = rs.evaluate(qrels, run, list(named.values())).runs
        row = {query: i for i, query in enumerate(one.query_ids)}
        count = 0
        for found in ir.pyndeval.iter_calc(measures, judgments, ranking):
            got = float(one.values[named[str(found.measure)]][row[found.query_id]])
            want = 0.0 if math.isnan(found.value) else found.value
            assert got == pytest.approx(want, abs=CLOSE), (found.query_id, found.measure)
            count += 1
        # it fills in 0 for the queries that the run leaves out, and so do we
        assert count == len(qrels) * len(measures) > 300
        assert len(run) < len(qrels)
