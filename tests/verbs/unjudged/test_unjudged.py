"""What hangs on unjudged documents: bounds, turns and the worklist, against all ways of grading them one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.made.samples import sampled

import rankscope as rs
from rankscope.engines.base import SEVERAL
from rankscope.errors import InputError
from rankscope.metrics import CATALOGUE, Metric
from rankscope.verbs.unjudged.search import alone, ways
from rankscope.verbs.unjudged.unjudged import top_grade

Qrels = dict[str, dict[str, float]]
LEVELS = (0.0, 1.0, 2.0)
CLOSE = 1e-9


def metrics() -> list[Metric]:
    """Every metric of the catalogue that takes one grade of a document, at rank 4 where it has a cutoff."""
    out: list[Metric] = []
    for cls in dict.fromkeys(CATALOGUE.values()):
        if not cls.__module__.startswith("rankscope.") or cls.__name__.startswith("_"):
            continue
        try:
            metric = cls().having(cutoff=4) if hasattr(cls, "cutoff") else cls()
            scale = getattr(metric, "max_grade", None)
            if isinstance(scale, float) and scale < LEVELS[-1]:
                metric = metric.having(max_grade=LEVELS[-1])
            metric.ready()
        except (InputError, TypeError):
            continue
        if not metric.needs & SEVERAL:
            out.append(metric)
    return out


METRICS = metrics()
each_metric = pytest.mark.parametrize("metric", sampled(METRICS, 16), ids=str)


def made_up(seed: int, queries: int = 3, unjudged: int = 2) -> tuple[Qrels, dict[str, Qrels]]:
    """Judgments, and two rankings of six documents, the first four of which hold a few that nobody judged."""
    rng = np.random.default_rng(seed)
    qrels: Qrels = {}
    runs: dict[str, Qrels] = {"old": {}, "new": {}}
    for q in range(queries):
        docs = [f"d{i}" for i in range(8)]
        hidden = set(rng.permutation(docs)[:unjudged].tolist())
        qrels[f"q{q}"] = {d: float(rng.integers(0, 3)) for d in docs if d not in hidden}
        for run in runs.values():
            order = rng.permutation(docs)[:6].tolist()
            run[f"q{q}"] = {d: float(-i) for i, d in enumerate(order)}
    return qrels, runs


def top(run: Qrels, query: str, k: int | None) -> list[str]:
    ranked = sorted(run[query], key=lambda d: -run[query][d])
    return ranked[:k]


def by_fill(
    metric: Metric, qrels: Qrels, runs: list[Qrels], query: str, docs: list[str], levels: tuple[float | None, ...]
) -> dict[tuple[float | None, ...], list[float]]:
    """The value of each run on one query, for every way of grading these documents (None: not judged)."""
    fills = list(product(levels, repeat=len(docs)))
    copies = {
        f"c{i:05}": {**qrels[query], **{d: g for d, g in zip(docs, fill, strict=True) if g is not None}}
        for i, fill in enumerate(fills)
    }
    found = []
    for run in runs:
        scores = rs.evaluate(copies, dict.fromkeys(copies, run[query]), metric)
        place = {name: i for i, name in enumerate(scores.runs[0].query_ids)}
        values = scores.runs[0].values[metric]
        found.append([float(values[place[name]]) for name in copies])
    return {fill: [of_run[i] for of_run in found] for i, fill in enumerate(fills)}


def hidden(qrels: Qrels, runs: list[Qrels], query: str, depth: int | None) -> list[str]:
    shown = dict.fromkeys(d for run in runs for d in top(run, query, depth))
    return [d for d in shown if d not in qrels[query]]


def depth_of(metric: Metric) -> int | None:
    return None if metric.looks_below else getattr(metric, "cutoff", None)


def mean(metric: Metric, values: list[float]) -> float:
    if metric.aggregate == "sum":
        return math.fsum(values)
    if metric.aggregate == "geometric":
        return math.exp(math.fsum(math.log(max(v, 1e-5)) for v in values) / len(values))
    return math.fsum(values) / len(values)


# --- bounds ------------------------------------------------------------------------------------------


@each_metric
def test_nothing_unjudged_leaves_nothing_open(metric: Metric) -> None:
    qrels, runs = made_up(1, unjudged=0)
    for bounded in rs.unjudged(qrels, runs, metric):
        ends = (bounded.worthless, bounded.perfect, bounded.lower, bounded.upper)
        np.testing.assert_array_equal(ends, [bounded.value] * 4)
        assert bounded.exact
        assert bounded.unjudged == bounded.share == 0
        assert bounded.residual_of is not None or not bounded.residual > 0


@each_metric
def test_bounds_are_the_extremes_of_all_ways_of_grading(metric: Metric) -> None:
    for seed in range(3):
        qrels, runs = made_up(seed, unjudged=3)
        for bounded in rs.unjudged(qrels, {"old": runs["old"]}, metric, grade=2):
            assert bounded.lower <= min(bounded.worthless, bounded.perfect) or math.isnan(bounded.value)
            assert bounded.upper >= max(bounded.worthless, bounded.perfect) or math.isnan(bounded.value)
            if metric.aggregate in {"pooled", "weighted"}:
                assert not bounded.exact
                continue
            low, high, none, full, unknown = [], [], [], [], False
            for query in qrels:
                docs = hidden(qrels, [runs["old"]], query, depth_of(metric))
                found = by_fill(metric, qrels, [runs["old"]], query, docs, LEVELS)
                values = [v for (v,) in found.values()]
                unknown |= any(map(math.isnan, values))
                low.append(min(values))
                high.append(max(values))
                none.append(found[0.0,][0] if len(docs) == 1 else found[(0.0,) * len(docs)][0])
                full.append(found[(2.0,) * len(docs)][0])
            if unknown or metric.relevance == "none":
                continue
            assert bounded.worthless == pytest.approx(mean(metric, none), abs=CLOSE)
            assert bounded.perfect == pytest.approx(mean(metric, full), abs=CLOSE)
            assert bounded.lower >= mean(metric, low) - CLOSE
            assert bounded.upper <= mean(metric, high) + CLOSE
            if bounded.exact:
                assert bounded.lower == pytest.approx(mean(metric, low), abs=CLOSE)
                assert bounded.upper == pytest.approx(mean(metric, high), abs=CLOSE)
            else:  # what cannot be sure of is what knows no better
                assert not metric.monotone or metric.better == "neither"


def test_usual_metrics_are_bounded_exactly() -> None:
    qrels, runs = made_up(5)
    usual = ["nDCG@10", "AP", "RR@10", "R@100", "P@10", "ERR@20", "RBP", "Success@5", "Rprec"]
    assert all(bounded.exact for bounded in rs.unjudged(qrels, runs, usual))


def test_all_alike_is_not_the_extreme_of_a_metric_with_an_ideal() -> None:
    # one relevant document, first; a second one at rank 3 would make the query worth more than it earns there
    qrels: Qrels = {"q": {"a": 1, "b": 0}}
    (bounded,) = rs.unjudged(qrels, {"q": {"a": 3.0, "b": 2.0, "x": 1.0}}, "nDCG@10")
    assert bounded.value == bounded.worthless == bounded.upper == 1.0
    expected = (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3))
    assert bounded.lower == bounded.perfect == pytest.approx(expected, abs=1e-12)


def test_worked_arithmetic() -> None:
    qrels: Qrels = {"q": {"a": 2, "b": 0, "z": 1}}
    run = {"q": {"x": 4.0, "a": 3.0, "y": 2.0, "b": 1.0}}
    (bounded,) = rs.unjudged(qrels, run, "nDCG@3")
    one, two, three = 1.0, 1 / math.log2(3), 1 / math.log2(4)
    assert bounded.value == pytest.approx((2 * two) / (2 + two), abs=1e-12)
    assert bounded.worthless == bounded.value
    # x and y of grade 2: the ideal is 2, 2, 2
    assert bounded.perfect == pytest.approx(1.0, abs=1e-12)
    # only y of grade 2: the ideal is 2, 2, 1; only y of grade 1 would be 2, 1, 1
    only_y = (2 * two + 2 * three) / (2 * one + 2 * two + three)
    little_y = (2 * two + three) / (2 * one + two + three)
    assert bounded.lower == pytest.approx(min(only_y, little_y, bounded.value), abs=1e-12)
    assert (bounded.unjudged, bounded.shown, bounded.share) == (2, 3, 2 / 3)
    # without x and y: a, b
    assert bounded.condensed == pytest.approx(2 / (2 + two), abs=1e-12)
    assert bounded.residual == bounded.upper - bounded.lower


def test_a_residual_is_what_rank_biased_precision_may_gain() -> None:
    qrels, runs = made_up(2)
    for bounded in rs.unjudged(qrels, runs, "RBP(p=0.5)"):
        assert bounded.residual_of == "RBPResidual(p=0.5)"
        # beyond the six documents returned there may be more
        assert bounded.residual == pytest.approx(bounded.perfect - bounded.value + 0.5**6, abs=1e-12)


def test_the_condensed_value_is_that_of_judged_only() -> None:
    qrels, runs = made_up(3)
    for bounded in rs.unjudged(qrels, runs, ["nDCG@4", "P@4"]):
        asked = bounded.metric.having(judged_only=True)
        assert bounded.condensed == rs.evaluate(qrels, runs[bounded.run], asked)[str(asked)]


# --- differences -------------------------------------------------------------------------------------


@each_metric
def test_bounds_of_a_difference(metric: Metric) -> None:
    for seed in range(2):
        qrels, runs = made_up(seed)
        (turn,) = rs.unjudged(qrels, runs, metric, grade=2).turns
        scores = rs.evaluate(qrels, runs, metric)
        difference = scores["new", str(metric)] - scores["old", str(metric)]
        assert turn.difference == difference or math.isnan(difference)
        if metric.aggregate not in {"mean", "sum"}:
            continue
        low, high, unknown = [], [], metric.relevance == "none"
        for query in qrels:
            docs = hidden(qrels, [runs["old"], runs["new"]], query, depth_of(metric))
            found = by_fill(metric, qrels, [runs["new"], runs["old"]], query, docs, LEVELS)
            unknown |= any(math.isnan(v) for pair in found.values() for v in pair)
            low.append(min(new - old for new, old in found.values()))
            high.append(max(new - old for new, old in found.values()))
        if unknown:
            continue
        assert turn.exact  # so few that all were tried
        assert turn.lower == pytest.approx(mean(metric, low), abs=CLOSE)
        assert turn.upper == pytest.approx(mean(metric, high), abs=CLOSE)


def least(metric: Metric, qrels: Qrels, runs: dict[str, Qrels], difference: float) -> int | None:
    """The smallest number of documents that turn a difference, all sets of them tried; -1 where some values are undefined."""
    sign, queries = math.copysign(1.0, difference), list(qrels)
    found = []
    for query in queries:
        docs = hidden(qrels, [runs["old"], runs["new"]], query, depth_of(metric))
        fills = by_fill(metric, qrels, [runs["new"], runs["old"]], query, docs, (None, 2.0))
        by_count: dict[int, float] = {}
        if any(math.isnan(v) for pair in fills.values() for v in pair):
            return -1
        for fill, (new, old) in fills.items():
            count = sum(g is not None for g in fill)
            by_count[count] = min(by_count.get(count, math.inf), sign * (new - old))
        found.append(by_count)
    turned = [
        sum(counts)
        for counts in product(*found)
        if math.fsum(by[c] for by, c in zip(found, counts, strict=True)) < -1e-10
    ]
    return min(turned, default=None)


@each_metric
def test_documents_that_turn_a_difference(metric: Metric) -> None:
    if metric.aggregate not in {"mean", "sum"}:
        return
    for seed in range(4):
        qrels, runs = made_up(seed, unjudged=3)
        report = rs.unjudged(qrels, runs, metric, grade=2)
        (turn,) = report.turns
        if not abs(turn.difference) > 1e-9:
            assert turn.needed is None
            continue
        fewest = least(metric, qrels, runs, turn.difference)
        if turn.needed is None:
            assert not alone(metric, 2.0) or fewest is None
            assert turn.reason
            continue
        assert turn.turned is not None
        assert turn.turned * turn.difference < 0
        assert fewest is not None
        assert turn.needed == fewest if turn.fewest else turn.needed >= fewest
        assert turn.fewest == alone(metric, 2.0)
        # where unjudged is the same as worthless
        if turn.exact and metric.better == "higher" and all(b.worthless == b.value for b in report):
            assert turn.lower - CLOSE <= turn.turned <= turn.upper + CLOSE


def test_which_metrics_let_documents_earn_alone() -> None:
    said = {str(m) for m in METRICS if alone(m, 2.0)}
    assert {"P@4", "CG@4", "DCG@4", "RBP@4"} <= said
    assert not alone(rs.parse("P(judged_only=True)@5"), 2.0)  # what is judged pushes others out
    assert not {"nDCG@4", "AP@4", "RR@4", "ERR@4", "R@4", "Success@4", "Bpref", "AUC"} & said


def test_a_document_of_both_runs_counts_once() -> None:
    qrels: Qrels = {"q": {"a": 1, "b": 0}}
    # x stands at rank 1 of old and rank 2 of new, behind a: it would help old more
    runs = {"old": {"q": {"x": 3.0, "b": 2.0}}, "new": {"q": {"a": 3.0, "x": 2.0}}}
    found = rs.unjudged(qrels, runs, "RBP(p=0.5)@2")
    (turn,) = found.turns
    # old 0, new 0.5; with x old 0.5, new 0.75: no way to turn it
    assert (turn.difference, turn.lower, turn.upper) == (0.5, 0.25, 0.5)
    assert (turn.unjudged, turn.needed, turn.ahead) == (1, None, "new")
    assert "no judgment" in turn.reason
    (wanted,) = found.worklist
    assert wanted.ranks == {"old": 1, "new": 2}
    assert wanted.effect == 0.25


@pytest.mark.parametrize(
    ("metric", "now", "then"),
    [
        # old ranks a and b first, new x before a and b
        pytest.param("AP@3", (1 / 2 + 2 / 3) / 2 - 1, 1 - 2 / 3, id="AP"),
        pytest.param("RR@3", 1 / 2 - 1, None, id="RR"),
    ],
)
def test_what_turns_a_metric_whose_documents_do_not_earn_alone(metric: str, now: float, then: float | None) -> None:
    """With x judged relevant, old has found 2 of 3 relevant documents, new all three; RR can only draw level."""
    qrels: Qrels = {"q": {"a": 1, "b": 1}}
    runs = {"old": {"q": {"a": 3.0, "b": 2.0}}, "new": {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}}
    (turn,) = rs.unjudged(qrels, runs, metric).turns
    assert turn.difference == pytest.approx(now)
    assert turn.needed == (None if then is None else 1)
    if then is not None:
        assert turn.turned == pytest.approx(then)


def test_two_documents_turn_what_one_does_not() -> None:
    """New is behind in three of four queries by 1/2 each, and ahead by 1/2 in each whose x is relevant."""
    qrels: Qrels = {f"q{i}": {"a": 1} for i in range(4)}
    old = {query: {"a": 2.0, "z": 1.0} for query in qrels}
    new = {query: {"x": 2.0, "a": 1.0} if query in {"q0", "q1", "q2"} else {"a": 1.0} for query in qrels}
    (turn,) = rs.unjudged(qrels, {"old": old, "new": new}, "AP@2").turns
    # each of three queries: old 1, new 1/2; with its x judged relevant old 1/2, new 1: two of three turn the mean
    assert turn.difference == pytest.approx(-3 / 8)
    assert turn.needed == 2
    assert turn.turned == pytest.approx((-1 / 2 + 1 / 2 + 1 / 2) / 4)


def test_documents_of_one_query_count_beside_each_other() -> None:
    """Old ranks the 4 relevant ones, new 6 others: with n of these judged old has 4 / (4 + n), new n / (4 + n), so that 5 are needed."""
    qrels: Qrels = {"q": dict.fromkeys("abcd", 1)}
    runs = {
        "old": {"q": dict(zip("abcd", (4.0, 3.0, 2.0, 1.0), strict=True))},
        "new": {"q": {f"x{i}": float(-i) for i in range(6)}},
    }
    (turn,) = rs.unjudged(qrels, runs, "AP@6").turns
    assert turn.difference == -1
    assert turn.needed == 5
    assert turn.turned == pytest.approx(5 / 9 - 4 / 9)


def test_same_scores_have_nothing_to_turn() -> None:
    qrels: Qrels = {"q": {"a": 1}}
    run = {"q": {"a": 1.0, "x": 0.5}}
    (turn,) = rs.unjudged(qrels, {"one": run, "two": run}, "P@2").turns
    assert (turn.difference, turn.needed, turn.ahead) == (0.0, None, None)


def test_another_baseline() -> None:
    qrels, runs = made_up(4)
    forth, back = rs.unjudged(qrels, runs, "P@4"), rs.unjudged(qrels, runs, "P@4", baseline="new")
    (a,), (b,) = forth.turns, back.turns
    assert (a.run, b.run) == ("new", "old")
    assert (a.difference, a.lower, a.upper) == (-b.difference, -b.upper, -b.lower)
    assert a.needed == b.needed


# --- what to judge -----------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["nDCG@4", "AP", "P@4", "RR@4", "Bpref", "GMAP", "nDCG(judged_only=True)@4"])
def test_effects_are_what_judging_the_document_does(metric: str) -> None:
    qrels, runs = made_up(7, unjudged=3)
    plainly = rs.evaluate(qrels, runs, metric)
    for given in (runs, {"old": runs["old"]}):
        found = rs.unjudged(qrels, given, metric)
        assert found.candidates == found.considered == len(found.worklist) > 0
        for wanted in found.worklist:
            moves = []
            for grade in (0.0, 2.0):
                more = {**qrels, wanted.query_id: {**qrels[wanted.query_id], wanted.doc_id: grade}}
                after = rs.evaluate(more, given, metric)
                steps = [after[name, metric] - plainly[name, metric] for name in given]
                moves.append(max(steps) - min(steps) if len(steps) > 1 else abs(steps[0]))
            assert wanted.effect == pytest.approx(max(moves), abs=1e-12)
        effects = [w.effect for w in found.worklist]
        assert all(a >= b - 1e-11 for a, b in pairwise(effects))


def test_the_worklist_does_not_depend_on_the_order_of_the_input() -> None:
    qrels, runs = made_up(8, unjudged=3)
    turned = {
        name: {q: dict(reversed(docs.items())) for q, docs in reversed(run.items())} for name, run in runs.items()
    }
    mixed = {q: dict(reversed(docs.items())) for q, docs in reversed(qrels.items())}
    one, other = rs.unjudged(qrels, runs), rs.unjudged(mixed, turned)
    assert one.worklist == other.worklist
    assert one.bounds == other.bounds
    assert one.turns == other.turns
    assert rs.unjudged(qrels, runs, n=2).worklist == one.worklist[:2]


# --- policies and shapes -------------------------------------------------------------------------------


def test_tables_and_dicts_give_the_same(tmp_path: Path) -> None:
    qrels, runs = made_up(9, unjudged=3)
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g:g}\n" for q, ds in qrels.items() for d, g in ds.items()))
    paths = {}
    for name, run in runs.items():
        paths[name] = str(tmp_path / name)
        lines = [f"{q} Q0 {d} 1 {s} {name}\n" for q, ds in run.items() for d, s in ds.items()]
        Path(paths[name]).write_text("".join(lines))
    asked = ["nDCG@4", "AP", "P@4"]
    one, other = rs.unjudged(qrels, runs, asked), rs.unjudged(str(tmp_path / "qrels"), paths, asked)
    assert one.bounds == other.bounds
    assert one.turns == other.turns
    assert one.worklist == other.worklist


@pytest.mark.parametrize(
    "policies",
    [
        {"ties": "docid"}, {"ties": "input"}, {"ties": "expected"}, {"ties": "worst"}, {"depth": 3}, {"queries": "both"},
        {"queries": "run"}, {"queries": "either"}, {"queries": ["q0", "q1"]}, {"weights": {"q0": 2.0, "q1": 1.0, "q2": 0.5}},
        {"self_match": "drop"}, {"no_relevant": "skip"}, {"nothing_found": "skip"}, {"mean": "micro"}, {"dialect": "trec_eval"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("metric", ["nDCG@4", "P@4"])
def test_policies_are_those_of_evaluate(metric: str, policies: dict[str, Any]) -> None:
    qrels, runs = made_up(10, unjudged=3)
    runs["old"]["more"] = {"a": 1.0}
    del runs["new"]["q2"]
    found = rs.unjudged(qrels, runs, metric, **policies)
    scores = rs.evaluate(qrels, runs, metric, **policies)
    for bounded in found:
        assert bounded.value == scores[bounded.run, str(bounded.metric)]
        assert bounded.lower <= bounded.worthless <= bounded.upper
        assert bounded.lower <= bounded.perfect <= bounded.upper
    for turn in found.turns:
        if turn.turned is not None:
            assert turn.turned * turn.difference < 0
            assert turn.lower - CLOSE <= turn.turned <= turn.upper + CLOSE
    searched = not {"no_relevant", "nothing_found", "mean"} & set(policies)
    assert bool(found.worklist) == searched


def test_several_grades_of_a_document(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("q 1 a 1\nq 2 b 1\nq 2 c 0\n")
    found = rs.unjudged(str(path), {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}, "StRecall@2")
    (bounded,) = found
    # of two subtopics a has one; a perfect x would have both
    assert (bounded.value, bounded.worthless, bounded.perfect) == (0.5, 0.5, 1.0)
    assert not bounded.exact
    assert not found.worklist


def test_metrics_have_their_own_depth_and_grade() -> None:
    qrels, runs = made_up(11)
    by_metric = {str(b.metric): b for b in rs.unjudged(qrels, runs["old"], ["P@2", "AP", "RBP(max_grade=3)"])}
    assert [b.depth for b in by_metric.values()] == [2, None, None]
    assert [b.grade for b in by_metric.values()] == [2.0, 2.0, 3.0]


def test_ways_of_grading() -> None:
    assert ways(2, (0.0, 1.0), 100, ordered=False)[0].tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    few, whole = ways(100, (0.0, 1.0, 2.0), 20, ordered=True)
    assert len(few) == 20
    assert not whole
    assert ways(9, (0.0, 1.0), 20, ordered=True)[1]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"grade": 0}, "the best grade of a document must be a number above 0"),
        ({"grade": True}, "the best grade"),
        ({"n": -1}, "the length of the worklist"),
        ({"baseline": "nobody"}, "no run is called that: there are old and new"),
        ({"metrics": "nDGC@10"}, "did you mean nDCG"),
        ({"metrics": "ERR(max_grade=2)@4", "grade": 3}, "above max_grade=2"),
    ],
)
def test_what_cannot_be_used_is_one_line(more: dict[str, Any], says: str) -> None:
    qrels, runs = made_up(12)
    with pytest.raises(InputError, match=says.replace("?", r"\?")) as error:
        rs.unjudged(qrels, runs, **more)
    assert "\n" not in str(error.value)


def test_rankings_too_deep_to_be_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankscope.verbs.unjudged.unjudged.MOST", 20)
    qrels, runs = made_up(13)
    with pytest.raises(InputError, match=r"AP looks at whole rankings, here 36 documents, too many"):
        rs.unjudged(qrels, runs, "AP")
    assert rs.unjudged(qrels, runs, "AP", depth=3).bounds[0].depth == 3


def test_real_runs(shared_data: Callable[[str], Path]) -> None:
    qrels = str(shared_data("trec_covid/qrels.txt"))
    folder = shared_data("trec_covid/round1/runs")
    runs = [str(folder / name) for name in ("BioinfoUA-emb-q.gz", "DA_IICT_all.gz")]
    found = rs.unjudged(qrels, runs, ["nDCG@10", "P@10"])
    scores = rs.evaluate(qrels, runs, ["nDCG@10", "P@10", "Judged@10"])
    for bounded in found:
        assert bounded.share == pytest.approx(1 - scores[bounded.run, "Judged@10"], abs=1e-12)
        assert bounded.share == scores.data_health[bounded.run]["unjudged_at_cutoff"]["10"]
        assert bounded.exact
    p = next(t for t in found.turns if str(t.metric) == "P@10")
    # a document at any rank moves P@10 by 1/300: the first run is ahead by ten of them
    assert round(p.difference * 300) == -10
    assert p.needed == 11
    assert p.fewest


def test_what_is_said_where_fewer_may_do() -> None:
    qrels = {f"q{i}": {"a": i % 3, "b": 1, "c": 0} for i in range(8)}
    runs = {
        "x": {q: {"a": 3.0, "zz": 2.0, "c": 1.0} for q in qrels},
        "y": {q: {"c": 3.0, "z": 2.5, "b": 2.0, "a": 1.0 + i} for i, q in enumerate(qrels)},
    }
    text = " ".join(rs.unjudged(qrels, runs, "nDCG@2").to_text().split())
    assert "would do it if graded 2 while the others stayed unjudged, ≤ if fewer may be enough" in text


def test_some_ways_are_not_all_ways() -> None:
    grades, every = ways(5, (0.0, 1.0), 9, ordered=True)
    assert not every
    assert len(grades) == 8  # four rising, four falling
    assert ways(5, (0.0, 1.0), 12, ordered=True)[1]


def test_the_best_grade_a_document_can_get() -> None:
    """That of the metric where it was given one, else the highest of the judgments."""
    assert top_grade(rs.parse("ERR@5"), 2.0) == 2.0
    assert top_grade(rs.parse("ERR(max_grade=3)@5"), 2.0) == 3.0
    assert top_grade(rs.parse("P(level=2)@5"), 1.0) == 2.0


@pytest.mark.parametrize(("metric", "sinks"), [("nDCG@2", True), ("AP", True), ("P@2", False), ("RR", False)])
def test_relevant_documents_that_a_ranking_missed_are_told_where_they_lower_the_metric(
    metric: str, sinks: bool
) -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in qrels}
    (bounds,) = rs.unjudged(qrels, run, metric).bounds
    assert ("would lower the value further" in str(bounds)) == sinks
    more = {query: {**grades, "missed": 1} for query, grades in qrels.items()}
    assert (rs.evaluate(more, run, metric)[metric] < bounds.value) == sinks
