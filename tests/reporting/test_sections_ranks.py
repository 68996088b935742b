"""The sections of a report that are made from ranks: what they tell is what evaluate, explain and the rankings themselves say."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.reporting.made_sections import find_section, section_of

import rankscope as rs
from rankscope.analysis import overlap
from rankscope.blocks import Chart, Paragraph, Section, Table, plain_value
from rankscope.engines.base import Order, Ties
from rankscope.lists.overlap import jaccard, rbo
from rankscope.metrics import parse
from rankscope.metrics.rank_weights import chart_of
from rankscope.reporting.subject import Subject
from rankscope.scoring.inputs import clean, read_any
from rankscope.scoring.policies import Policies
from rankscope.scoring.ranking import ranking_of
from rankscope.scoring.rescore import rescore, why_not
from rankscope.verbs.compare.compare import compare
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.explain.explain import explain_origin

SECTIONS = ("agreement", "cutoffs", "discounts", "recall", "origin")
COVID = ("bm25_basline", "bm25t5", "run1", "smith.ql", "ixa-ir-filter-query")


def made(qrels: Any, runs: dict[str, Any], metrics: Any = None, **options: Any) -> Subject[Any]:
    grades = read_any("qrels", qrels)
    read = {name: read_any("run", run, name) for name, run in runs.items()}
    if len(read) == 1:
        return Subject(rs.evaluate(grades, read, metrics, **options), grades, read)
    found = compare(grades, read, metrics, **options)
    return Subject(found, grades, read)


@pytest.fixture(scope="module")
def covid(shared_data: Callable[[str], Path]) -> Callable[..., Subject[Any]]:
    qrels = read_any("qrels", str(shared_data("trec_covid/qrels.txt")))
    runs = {n: read_any("run", str(shared_data(f"trec_covid/round1/runs/{n}.gz")), n) for n in COVID}

    def make(metrics: Any = None, names: Any = COVID, **options: Any) -> Subject[Any]:
        return made(qrels, {name: runs[name] for name in names}, metrics, **options)

    return make


def made_up(queries: int = 6, runs: int = 3, depth: int = 20, seed: int = 0) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(40)]
    qrels = {f"q{q}": {d: int(g) for d, g in zip(docs, rng.integers(-1, 4, 40), strict=True)} for q in range(queries)}
    out = {}
    for r in range(runs):
        out[f"run{r}"] = {
            f"q{q}": {docs[i]: float(rng.integers(0, 12)) for i in rng.permutation(40)[: rng.integers(1, depth)]}
            for q in range(queries)
        }
    return qrels, out


def charts(section: Section) -> list[Chart]:
    return [block for block in section.blocks if isinstance(block, Chart)]


def tables(section: Section) -> list[Table]:
    return [block for block in section.blocks if isinstance(block, Table)]


# --- a metric at every cutoff -----------------------------------------------------------------------------

POLICIES: list[dict[str, Any]] = [
    {},
    {"queries": "both"},
    {"queries": "run"},
    {"queries": ["q1", "q4"]},
    {"no_relevant": "skip"},
    {"no_relevant": 1},
    {"nothing_found": "skip"},
    {"mean": "micro"},
    {"depth": 7},
    {"ties": "expected"},
    {"ties": "expected", "depth": 7},
    {"ties": "best"},
    {"ties": "worst"},
    {"ties": "docid"},
    {"ties": "input"},
    {"weights": {f"q{i}": i + 0.5 for i in range(9)}},
]


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("metric", ["nDCG@5", "P@5", "R@5", "RR@5", "ERR@5", "Success@5", "RBP@5", "DCG@5", "AP@5"])
def test_other_cutoffs_are_what_evaluate_gives(metric: str, policies: dict[str, Any]) -> None:
    same_as_evaluated([metric, "AP"], policies)


@pytest.mark.parametrize("metric", ["nDCG@5", "R@5", "P@5"])
@pytest.mark.parametrize("dialect", ["ranx", "recbole"])
def test_other_cutoffs_in_a_dialect_are_what_evaluate_gives(metric: str, dialect: str) -> None:
    same_as_evaluated([metric], {"dialect": dialect})


def same_as_evaluated(asked: list[str], policies: dict[str, Any]) -> None:
    """Values at several cutoffs, to the bit; at the cutoff that was asked for, that of the board."""
    qrels, runs = made_up()
    qrels["q7"] = {"d1": 0}
    runs["run1"].pop("q2")
    runs["run2"]["q8"] = {"d1": 1.0}
    scores = rs.evaluate(qrels, runs, asked, **policies)
    others = rs.evaluate(qrels, runs, [asked[0].replace("5", str(k)) for k in (1, 3, 5, 10)], **policies)
    own = scores.metrics[0]
    if why_not(scores, own, own):
        assert policies.get("ties") == "expected"
        return
    for run in runs:
        pairs = [(own, own.having(cutoff=k)) for k in (1, 3, 5, 10)]
        found = [mean.value for mean in rescore(scores, pairs, {run})]
        wanted = [mean.value for mean in others.board if mean.run == run]
        assert found == pytest.approx(wanted, abs=0, rel=0, nan_ok=True)
        board = next(m.value for m in scores.board if m.run == run and m.metric == own)
        assert found[2] == board or (math.isnan(found[2]) and math.isnan(board))


def test_curves_of_a_comparison_hold_the_values_of_its_board(covid: Any) -> None:
    subject = covid()
    found = section_of("cutoffs", subject)
    first, *_ = charts(found)
    assert first.form == "lines"
    assert "do not compare one run across cutoffs" in first.caption
    values = {(run, k): value for run, k, value in first.rows}
    for run in COVID:
        assert values[run, 10] == subject.scores[run, "nDCG@10"]
        assert values[run, 100] == rs.evaluate(subject.qrels, {run: subject.runs[run]}, "nDCG@100")[run, "nDCG@100"]
    assert found.lead.startswith("run1 leads on nDCG@k at every cutoff: k = 1, 2, 3, 5")


def test_where_the_winner_changes_it_is_said_at_which_k() -> None:
    # early has one document at once, late all three but from rank 2 on
    qrels = {f"q{i}": {"a": 1, "b": 1, "c": 1} for i in range(6)}
    early = {q: {"a": 9.0, "x": 8.0, "y": 7.0, "z": 6.0} for q in qrels}
    late = {q: {"x": 9.0, "a": 8.0, "b": 7.0, "c": 6.0} for q in qrels}
    found = section_of("cutoffs", made(qrels, {"early": early, "late": late}, "P@3"))
    assert found.lead == "Which run leads on P@k depends on k: early at k = 1; late and early at k = 2; late at k = 3."
    (table,) = tables(found)
    assert [row[1:] for row in table.rows] == [(0.0, 1 / 2, 2 / 3), (1.0, 1 / 2, 1 / 3)]
    assert table.best == {(1, 1), (0, 3)}


def test_runs_that_are_the_same_are_level() -> None:
    qrels, runs = made_up(runs=1)
    found = section_of("cutoffs", made(qrels, {"a": runs["run0"], "b": runs["run0"]}, "P@3"))
    assert found.lead == "All runs are level on P@k at every k tried."


def test_a_metric_without_a_cutoff_leaves_the_curve_to_ndcg() -> None:
    qrels, runs = made_up()
    scores = rs.evaluate(qrels, runs, ["AP", "nDCG@3"])
    (first,) = charts(section_of("cutoffs", Subject(scores, qrels, runs)))
    assert first.y == "nDCG@k"
    (first,) = charts(section_of("cutoffs", made(qrels, runs, "AP")))
    assert first.y == "nDCG@k"


# --- precision against recall -----------------------------------------------------------------------------


@pytest.mark.parametrize("policies", POLICIES)
def test_precision_at_recall_is_that_of_evaluate(policies: dict[str, Any]) -> None:
    qrels, runs = made_up(seed=4)
    runs["run1"].pop("q2")
    subject = made(
        qrels,
        runs,
        "nDCG@5",
        **{**policies, **({"queries": ["q1", "q4", "q5"]} if isinstance(policies.get("queries"), list) else {})},
    )
    assert subject.scores is not None
    found = section_of("recall", subject)
    if policies.get("ties") == "expected":
        assert isinstance(found.blocks[0], Paragraph)
        assert "no closed form" in found.blocks[0].text
        return
    names = [f"IPrec@{r / 10:g}" for r in range(11)]
    options = dict(policies)
    if isinstance(policies.get("queries"), list):
        options["queries"] = ["q1", "q4", "q5"]
    wanted = rs.evaluate(qrels, runs, names, **options)
    (chart,) = charts(found)
    for run, at, value in chart.rows:
        assert value == wanted[run, f"IPrec@{at:g}"]


def test_precision_at_recall_on_real_runs(covid: Any) -> None:
    subject = covid("AP")
    (chart,) = charts(section_of("recall", subject))
    wanted = rs.evaluate(subject.qrels, subject.runs, ["IPrec@0", "IPrec@0.5", "IPrec@1"])
    values = {(run, at): value for run, at, value in chart.rows}
    for run in COVID:
        for at in (0, 0.5, 1):
            assert values[run, at] == wanted[run, f"IPrec@{at:g}"]


def test_the_level_is_that_of_the_leading_metric() -> None:
    qrels, runs = made_up()
    (chart,) = charts(section_of("recall", made(qrels, runs, "P(level=2)@5")))
    wanted = rs.evaluate(qrels, runs, "IPrec(level=2)@0.3")
    assert "grade 2 or more" in chart.title
    assert {run: v for run, at, v in chart.rows if at == 0.3} == {
        run: wanted[run, "IPrec(level=2)@0.3"] for run in runs
    }


# --- where in the ranking ---------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["nDCG@10", "AP", "RR", "R@10", "ERR", "RBP", "Bpref", "F@10", "SetF", "Utility"])
@pytest.mark.parametrize(
    "policies",
    [
        {},
        {"mean": "micro"},
        {"queries": "both"},
        {"nothing_found": "skip"},
        {"weights": {f"q{i}": i + 1 for i in range(9)}},
    ],
)
def test_bands_and_the_rest_sum_to_the_difference(metric: str, policies: dict[str, Any]) -> None:
    qrels, runs = made_up(queries=8, runs=4)
    subject = made(qrels, runs, metric, **policies)
    assert isinstance(subject.result, Comparison)
    found = section_of("origin", subject)
    (chart,) = charts(found)
    (table,) = tables(found)
    pairs = [f"{run} against {baseline}" for run, baseline in subject.pairs[:3]]
    assert [row[0] for row in table.rows] == [p for p in pairs if p in {row[0] for row in table.rows}]
    for row in table.rows:
        adds = [value for _, value, pair in chart.rows if pair == row[0]]
        run, _, baseline = str(row[0]).partition(" against ")
        contrast = subject.result[run, baseline, subject.lead.name]
        assert math.fsum(float(a) for a in adds if isinstance(a, float)) == pytest.approx(
            contrast.difference, abs=1e-12
        )
        assert plain_value(row[-1]) == pytest.approx(contrast.difference, abs=1e-12)


def test_origins_are_those_that_explain_finds(covid: Any) -> None:
    subject = covid("nDCG@10")
    run, baseline = subject.pairs[0]
    found = explain_origin(subject.scores, baseline, run, subject.metric)
    alone = rs.explain(subject.qrels, [subject.runs[baseline], subject.runs[run]], "nDCG@10")
    assert found.value == alone.value
    assert [(b.first, b.adds) for b in found.bands] == [(b.first, b.adds) for b in alone.bands]
    lead = section_of("origin", subject)
    assert lead.lead.startswith(f"{run} and {baseline} differ by +0.2")


@pytest.mark.parametrize(
    ("metric", "options", "said"),
    [("GMAP", {}, "not a plain mean over queries"), ("nDCG@10", {"ties": "expected"}, "no one rank")],
)
def test_what_does_not_part_by_rank_is_said(metric: str, options: dict[str, Any], said: str) -> None:
    qrels, runs = made_up()
    found = section_of("origin", made(qrels, runs, metric, **options))
    assert isinstance(found.blocks[0], Paragraph)
    assert said in found.blocks[0].text


# --- agreement --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["trec", "docid", "input", "expected"])
@pytest.mark.parametrize("tables_given", [False, True])
def test_agreement_is_the_mean_over_queries_that_both_rank(ties: str, tables_given: bool) -> None:
    qrels, runs = made_up(queries=7)
    runs["run1"].pop("q3")
    options: dict[str, Any] = {"ties": ties, "depth": 12}
    given = runs
    if tables_given:
        import polars as pl

        given = {
            name: pl.DataFrame(
                [(q, d, s) for q, docs in run.items() for d, s in docs.items()],
                schema=["query_id", "doc_id", "score"],
                orient="row",
            )
            for name, run in runs.items()
        }
    subject = made(qrels, given, "nDCG@5", **options)
    order: Ties = "docid" if ties == "docid" else "input" if ties == "input" else "trec"
    ranked = {
        name: {
            q: ranking_of(clean(run, Policies(), "run"), clean(qrels, Policies(), "qrels"), q, Order(order, 12)).doc_ids
            for q in run
        }
        for name, run in runs.items()
    }
    rbos, jaccards = charts(section_of("agreement", subject))
    assert (rbos.colour, jaccards.colour) == ("RBO", "Jaccard@5")
    measures: list[tuple[Chart, Callable[[Any, Any], float]]] = [
        (rbos, lambda a, b: rbo(a, b, 0.9).ext),
        (jaccards, lambda a, b: jaccard(a, b, 5)),
    ]
    for chart, measure in measures:
        for one, other, value in chart.rows:
            both = [q for q in ranked[str(one)] if q in ranked[str(other)]]
            each = [measure(ranked[str(one)][q], ranked[str(other)][q]) for q in both]
            assert value == pytest.approx(math.fsum(each) / len(each), abs=1e-12)


def test_agreement_in_words(covid: Any) -> None:
    found = section_of("agreement", covid(names=COVID[:2]))
    assert found.lead == "bm25t5 and bm25_basline share 1.2 of their first 10 (rank-biased overlap 0.11)."


def test_queries_are_picked_evenly_where_there_are_many() -> None:
    ids = [f"{i:05}" for i in range(5000)]
    few = overlap.sample_queries(ids, 3)
    assert len(few) == overlap.QUERIES
    assert few == sorted(set(few))
    steps = np.diff([int(q) for q in few])
    assert steps.max() - steps.min() <= 1
    assert len(overlap.sample_queries(ids, 40)) == overlap.PAIRS // (40 * 39 // 2)
    assert overlap.sample_queries(ids[:7], 3) == ids[:7]
    assert len(overlap.sample_queries(ids, 1000)) == 1


def test_a_sample_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = made_up(queries=9)
    monkeypatch.setattr(overlap, "QUERIES", 4)
    found = section_of("agreement", made(qrels, runs, "P@5"))
    assert found.blocks[-1] == Paragraph("From 4 of 9 queries, picked evenly by their ids.", quiet=True)


def test_runs_with_no_query_in_common() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    scores = rs.evaluate(qrels, {"one": {"q1": {"a": 1.0}}, "two": {"q2": {"a": 1.0}}}, "P@1")
    runs = {"one": {"q1": {"a": 1.0}}, "two": {"q2": {"a": 1.0}}}
    found = section_of("agreement", Subject(scores, qrels, runs))
    assert "runs cannot be compared" in str(found.blocks)


# --- what a rank is worth ---------------------------------------------------------------------------------


def test_discounts_are_as_in_the_books(covid: Any) -> None:
    found = section_of("discounts", covid())
    (chart,) = charts(found)
    values = {(name, rank): value for name, rank, value in chart.rows}
    ranks = sorted({int(rank) for _, rank, _ in chart.rows})  # type: ignore[arg-type]
    assert ranks[:10] == list(range(1, 11))
    assert {11, 20, 50, 100} <= set(ranks), "also where P@10 falls to 0"
    for r in [rank for rank in ranks if ("RR: 1/rank", rank) in values]:
        assert values["RR: 1/rank", r] == pytest.approx(1 / r)
        assert values["DCG, nDCG: 1/log2(rank+1)", r] == pytest.approx(1 / math.log2(r + 1))
        for p in (0.5, 0.8, 0.95):
            assert values[f"RBP(p={p:g})", r] == pytest.approx(p ** (r - 1))
        assert values["P@10", r] == (r <= 10)
    log = [1 / math.log2(r + 1) for r in range(1, 101)]
    assert f"{sum(log[10:]) / sum(log):.0%}" == "78%"
    assert found.lead.startswith("Down to rank 100, 78% of the weight of DCG is below rank 10")


def test_reach_is_that_of_the_readers_of_each_ranking() -> None:
    # grades 2, 0, 1 of at most 2: 3/4 are satisfied at once, 1/4 of the rest at rank 3; q2 ends after rank 2
    qrels = {"q1": {"a": 2, "c": 1}, "q2": {"a": 1}, "q3": {"a": 2}}
    run = {"q1": {"a": 9.0, "b": 8.0, "c": 7.0, "d": 6.0}, "q2": {"b": 2.0, "a": 1.0}}
    (chart,) = charts(section_of("discounts", made(qrels, {"mine": run}, "P@2")))
    found = {rank: value for name, rank, value in chart.rows if name == "ERR reach, mine"}
    assert [found[r] for r in (1, 2, 3, 4, 5)] == pytest.approx(
        [1, (1 / 4 + 1) / 2, (1 / 4) / 2, (1 / 4 * 3 / 4) / 2, 0]
    )


def test_reach_is_that_of_the_factors_of_err(covid: Any) -> None:
    subject = covid("ERR(max_grade=2)", COVID[:1])
    (chart,) = charts(section_of("discounts", subject))
    found = [float(v) for name, _, v in chart.rows if name == f"ERR reach, {COVID[0]}" and isinstance(v, float)]
    query = subject.scores.runs[0].query_ids
    metric = parse("ERR(max_grade=2)")
    judged = subject.scores.evaluations[0].judged[0]
    terms = metric.taken_apart(judged.lists(np.arange(len(judged))))
    at_one = terms.factors["satisfied here"][(terms.lists.rank == 1) & terms.lists.shown].sum()
    assert found[1] == pytest.approx(1 - at_one / len(query))
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("name", ["RR", "nDCG@10", "RBP(p=0.5)", "AP", "alpha_nDCG", "NERR9(max_grade=2)@3"])
def test_the_weight_of_each_rank_of_one_metric(name: str) -> None:
    chart = chart_of(parse(name))
    assert chart_of(parse(name), alone=True).rows == chart.rows[:100]
    assert len(chart.rows) in {100, 200}
    assert chart.rows[0] == (name if "max" not in name else str(parse(name)), 1, 1.0)
    top = 2 if "max" in name else 1
    alone = [parse(name).of([0] * i + [top] + [0] * (99 - i)) for i in range(3)]
    assert [row[2] for row in chart.rows[:3]] == pytest.approx([value / alone[0] for value in alone])


@pytest.mark.parametrize(
    ("name", "because"),
    [("AUC", "documents below it"), ("SetP", "ignores the order"), ("Judged@10", "no better direction"),
     ("PercentileRank", "lower values"), ("YAAP", "below 0"), ("CG", "ignores")],
)  # fmt: skip
def test_a_metric_without_weights_by_rank_says_why(name: str, because: str) -> None:
    with pytest.raises(rs.InputError, match=because) as caught:
        chart_of(parse(name))
    assert "has no weight by rank" in str(caught.value)
    assert "\n" not in str(caught.value)


# --- whatever is given ------------------------------------------------------------------------------------


def consistent(section: Section) -> None:
    assert section.name
    assert section.title
    for block in section.blocks:
        if isinstance(block, Table | Chart):
            assert block.rows
            assert all(len(row) == len(block.columns) for row in block.rows)
            assert not any(isinstance(v, float) and math.isnan(v) for row in block.rows for v in row)
        if isinstance(block, Chart):
            headers = [column.header for column in block.columns]
            assert {h for h in (block.x, block.y, block.series, block.colour) if h} <= set(headers)
            assert block.caption
            assert len({row[block.at(block.series)] for row in block.rows if block.series}) <= 8


@pytest.mark.parametrize("count", [1, 2, 12, 40])
@pytest.mark.parametrize("metric", ["nDCG@10", "AP", "AUC", "NumRel", "GMAP", "RelevantPosition"])
def test_any_number_of_runs(count: int, metric: str) -> None:
    qrels, runs = made_up(runs=count, queries=4)
    subject = made(qrels, runs, metric)
    found = [find_section(name, subject) for name in SECTIONS]
    for section in found:
        if section is not None:
            consistent(section)
    assert (found[0] is None) == (count == 1)
    assert found[1] is not None
    assert ("left out" in str(found[1].blocks)) == (count > 8)


@pytest.mark.parametrize("grade", [0, -1])
@pytest.mark.parametrize("metric", ["nDCG@10", "AP", "RR@10"])
def test_no_relevant_documents_and_rankings_of_one(grade: int, metric: str) -> None:
    qrels = {f"q{i}": {"a": grade} for i in range(3)}
    one = {q: {"a": 1.0} for q in qrels}
    other = {q: {"b": 1.0} for q in qrels}
    subject = made(qrels, {"one": one, "other": other}, metric)
    for name in SECTIONS:
        section = find_section(name, subject)
        if section is not None:
            consistent(section)
    assert find_section("cutoffs", subject) is None


def test_no_value_at_all() -> None:
    qrels = {f"q{i}": {"a": 0} for i in range(3)}
    run = {q: {"a": 1.0, "b": 0.5} for q in qrels}
    scores = rs.evaluate(qrels, {"x": run}, "nDCG@10", no_relevant="skip")
    for name in SECTIONS:
        section = find_section(name, Subject(scores, qrels, {"x": run}))
        if section is not None:
            consistent(section)


def test_scores_without_rankings_have_no_ranks() -> None:
    table = {"a": {f"q{i}": i / 9 for i in range(9)}, "b": {f"q{i}": 1 - i / 9 for i in range(9)}}
    import polars as pl

    frame = pl.DataFrame([(run, q, "nDCG@10", v) for run, values in table.items() for q, v in values.items()],
                         schema=["run", "query_id", "metric", "value"], orient="row")  # fmt: skip
    found = compare(frame)
    subject = Subject(found)
    assert [find_section(name, subject) for name in ("agreement", "cutoffs", "recall", "origin", "discounts")] == [
        None
    ] * 5


def test_several_runs_of_one_system() -> None:
    qrels, runs = made_up(runs=4)
    systems = {"run2": "new", "run3": "new"}
    subject = made(qrels, runs, "nDCG@10", systems=systems)
    for name in SECTIONS:
        section = find_section(name, subject)
        if section is not None:
            consistent(section)


def test_grades_by_subtopic() -> None:
    qrels = {f"q{i}": {"a": {"s1": 1, "s2": 1}, "b": {"s2": 1}, "c": {"s1": 0}} for i in range(6)}
    one = {q: {"a": 3.0, "b": 2.0, "c": 1.0} for q in qrels}
    other = {q: {"c": 3.0, "b": 2.0, "a": 1.0} for q in qrels}
    subject = made(qrels, {"one": one, "other": other}, "alpha_nDCG@2")
    for name in SECTIONS:
        consistent(section_of(name, subject))
