"""How metrics are written and read: as strings, as objects, and in the words of other tools."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.declared import parameters, required_parameters
from rankscope.errors import InputError
from rankscope.lists import Lists
from rankscope.metrics import (
    AP,
    AUC,
    CATALOGUE,
    CG,
    DCG,
    ERR,
    GAUC,
    GMAP,
    NICKNAMES,
    OPA,
    RBP,
    RR,
    Bpref,
    IPrec,
    IPrecAvg,
    Metric,
    NumRelRet,
    P,
    R,
    SetF,
    Success,
    Terms,
    in_order,
    nDCG,
    parse,
    parse_many,
)
from rankscope.metrics.base import Cutoff, Level
from rankscope.testing import variants

OURS = [cls for cls in dict.fromkeys(CATALOGUE.values()) if cls.__module__.startswith("rankscope.")]
EVERY = [metric for cls in OURS for metric in variants(cls)]


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("nDCG@10", nDCG(cutoff=10)),
        ("nDCG", nDCG()),
        (" nDCG @ 10 ", nDCG @ 10),
        ("nDCG (gain = exponential) @ 10", nDCG(gain="exponential") @ 10),
        ("nDCG(gain='exponential', cutoff=10)", nDCG(gain="exponential", cutoff=10)),
        ("nDCG(gain={1: 3, 2: 9.5})@5", nDCG(gain={1: 3, 2: 9.5}, cutoff=5)),  # type: ignore[arg-type]
        ("RBP(p=0.5)", RBP(p=0.5)),
        ("IPrec@0.1", IPrec(recall=0.1)),
        ("IPrecAvg(points=(0.25, 0.5))", IPrecAvg(points=(0.25, 0.5))),
        # as ir_measures spells them
        ("P(rel=2)@5", P(level=2, cutoff=5)),
        ("AP(rel=2)@100", AP(level=2, cutoff=100)),
        ("nDCG(dcg='exp-log2')@5", nDCG(gain="exponential", cutoff=5)),
        ("nDCG(dcg='log2')@5", nDCG(cutoff=5)),
        ("nDCG(gains={1: 2})@5", nDCG(gain={1: 2}, cutoff=5)),  # type: ignore[arg-type]
        ("nDCG(judged_only=True)@5", nDCG(judged_only=True, cutoff=5)),
        ("ERR(max_rel=3)@20", ERR(max_grade=3, cutoff=20)),
        ("RBP(p=0.8, rel=1)", RBP()),
        ("RBP(max_rel=3)", RBP(max_grade=3)),
        # as people say them
        ("ndcg@10", nDCG @ 10),
        ("mrr@10", RR @ 10),
        ("MRR", RR()),
        ("map@100", AP @ 100),
        ("MAP", AP()),
        ("hit_rate@5", Success @ 5),
        ("recall@100", R @ 100),
        ("precision@3", P @ 3),
        ("auc", AUC()),
        ("gauc(weights=pairs)", GAUC(weights="pairs")),
        ("hits", NumRelRet()),
        # as trec_eval names and prints them
        ("ndcg_cut_10", nDCG @ 10),
        ("ndcg_cut.10", nDCG @ 10),
        ("P_5", P @ 5),
        ("map", AP()),
        ("map_cut_100", AP @ 100),
        ("recip_rank", RR()),
        ("gm_map", GMAP()),
        ("bpref", Bpref()),
        ("success_1", Success @ 1),
        ("set_F", SetF()),
        ("set_F.4", SetF(beta=2)),
        ("iprec_at_recall_0.10", IPrec @ 0.1),
        ("11pt_avg", IPrecAvg()),
        ("11pt_avg..25,.5,.75", IPrecAvg(points=(0.25, 0.5, 0.75))),
        ("ndcg.1=3.5,2=9", nDCG(gain={1: 3.5, 2: 9})),  # type: ignore[arg-type]
        ("rbp", RBP(p=0.9, max_grade="query")),
        ("dcg", DCG()),
    ],
)
def test_one_metric(text: str, metric: Metric) -> None:
    assert parse(text) == metric


@pytest.mark.parametrize(
    ("text", "metrics"),
    [
        ("nDCG@5,10", [("nDCG@5", nDCG @ 5), ("nDCG@10", nDCG @ 10)]),
        ("P.5,10", [("P_5", P @ 5), ("P_10", P @ 10)]),
        ("ndcg_cut.5,10", [("ndcg_cut_5", nDCG @ 5), ("ndcg_cut_10", nDCG @ 10)]),
        ("P@5 mrr@10", [("P@5", P @ 5), ("mrr@10", RR @ 10)]),
        ("mrr@10", [("mrr@10", RR @ 10)]),
        ("success", [(f"success_{k}", Success @ k) for k in (1, 5, 10)]),
        ("iprec_at_recall", [(f"iprec_at_recall_0.{i}0" if i < 10 else "iprec_at_recall_1.00", IPrec @ (i / 10)) for i in range(11)]),
        ("P", [(f"P_{k}", P @ k) for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]),
    ],
)  # fmt: skip
def test_several_metrics(text: str, metrics: list[tuple[str, Metric]]) -> None:
    assert parse_many(text) == metrics


def test_nicknames_are_sets() -> None:
    official = [name for name, _ in parse_many("official")]
    assert official[:6] == ["num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map"]
    assert {"iprec_at_recall_0.50", "P_5", "P_1000", "recip_rank", "bpref", "Rprec"} <= set(official)
    everything = {name for name, _ in parse_many("all_trec")}
    assert set(official) <= everything
    assert {"ndcg", "ndcg_cut_5", "infAP", "set_F", "11pt_avg"} <= everything
    assert all(len(parse_many(name)) >= 5 for name in NICKNAMES)


def test_each_metric_once() -> None:
    assert in_order(["ndcg@10", "ndcg_cut.5,10", nDCG @ 10, P @ 5]) == [
        ("ndcg@10", nDCG @ 10), ("ndcg_cut_5", nDCG @ 5), ("P@5", P @ 5)]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nDGC@10", "metric 'nDGC@10': no metric is called nDGC, did you mean nDCG?"),
        ("recal@10", "did you mean R?"),
        ("zzzzzz", r"no metric is called zzzzzz \(rankscope metrics lists all\)"),
        ("nDCG@0", r"metric 'nDCG@0': nDCG\(cutoff=0\): cutoff must be at least 1"),
        ("nDCG@-5", "cutoff must be at least 1"),
        ("nDCG@ten", "cutoff must be a whole number"),
        ("nDCG@True", "cutoff must be a whole number"),
        ("AP@5.5", "cutoff must be a whole number"),
        ("nDCG@", "write it like nDCG@10"),
        ("nDCG@10@5", "write it like nDCG@10"),
        ("", "write it like nDCG@10"),
        ("nDCG(", "write it like nDCG@10"),
        ("R", "R needs cutoff: write R@10"),
        ("IPrec", "IPrec needs recall"),
        ("OPA@5", "OPA has no cutoff, write it without @5"),
        ("nDCG(cutof=5)", "not cutof, did you mean cutoff?"),
        ("nDCG(k=5)", "nDCG takes cutoff, gain"),
        ("nDCG(gain=cubic)", "gain must be one of 'linear', 'exponential', 'binary' or a table like {1: 3, 2: 9}"),
        ("nDCG(gain={})", "a table like"),
        ("nDCG(gain={1: -1})", "grades and gains are 0 or more"),
        ("nDCG(discount={0: 1})", "ranks are whole numbers from 1"),
        ("nDCG(discount={1: -1})", "their discounts 0 or more"),
        ("nDCG(10)", "every parameter needs its name"),
        ("nDCG(**{'a': 1})", "every parameter needs its name"),
        ("nDCG(gain=)", "cannot read the parameters 'gain='"),
        ("nDCG(gain=open('x'))", "cannot read the value 'open"),
        ("P(rel=2, level=3)@5", "level is given twice"),
        ("nDCG(cutoff=5)@10", "cutoff is given twice"),
        ("P(level=True)@5", "level must be a number"),
        ("P(level=-1)@5", "level must be at least 0"),
        ("P(judged_only=1)@5", "judged_only must be True or False"),
        ("RBP(p=2)", "p must be from 0 to 1"),
        ("ERR(max_grade=0)", "max_grade must be above 0"),
        ("IPrec@2", "recall must be from 0 to 1"),
        ("11pt_avg.2", "points must be from 0 to 1"),
        ("nDCG(max_grade=3)@5", "ideal='max_grade_k' and max_grade go together"),
        ("nDCG(ideal=full_k)", "needs a cutoff, write nDCG"),
        ("AP(denominator=k)", "needs a cutoff, write AP"),
        ("P.x", "metric 'P.x': cannot read 'x' as numbers, write it like P.5,10"),
        ("ndcg.1", "write it like ndcg.1=3.5,2=9"),
        ("map.5", "trec_eval's map takes no values after the dot"),
        ("P_0", r"metric 'P_0': P\(cutoff=0\): cutoff must be at least 1"),
        ("P.5,10", "names 2 metrics, but only one fits here: P@5, P@10$"),
    ],
)
def test_a_bad_spelling_is_one_clear_line(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as error:
        parse(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("what", [5, None, ["P@5"], int])
def test_what_is_no_metric(what: Any) -> None:
    with pytest.raises(InputError, match="a metric is a name like 'nDCG@10'"):
        parse(what)


@pytest.mark.parametrize("metric", EVERY, ids=str)
def test_a_metric_survives_what_is_done_to_objects(metric: Metric) -> None:
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert copy.copy(metric) == metric
    assert copy.deepcopy(metric) == metric
    assert metric.having() == metric
    assert len({metric, parse(str(metric)), metric.having()}) == 1


def test_different_metrics_differ() -> None:
    assert len(set(EVERY)) == len({str(metric) for metric in EVERY}) == len(EVERY)
    assert nDCG @ 10 != DCG @ 10
    assert nDCG @ 10 != nDCG @ 5


GIVEN = {"max_grade": "4", "length": "300", "group": "'maker'", "metric": "'AP'", "items": "100", "tokens": "100"}


def test_every_alias_reads_as_its_class() -> None:
    for cls in OURS:
        for name in (cls.__name__, *cls.aliases):
            at = (
                {"cutoff": "@10", "recall": "@0.5", "negatives": "@10", "multiple": "@0.5"}[cls.at]
                if cls.at in parameters(cls)
                else ""
            )
            needed = [f"{own}={GIVEN[own]}" for own in required_parameters(cls) if own in GIVEN]
            more = f"({', '.join(needed)})" if needed else ""
            assert type(parse(name + more + at)) is cls


def test_classes_and_metrics_can_be_cut() -> None:
    assert nDCG @ 10 == nDCG() @ 10 == nDCG(cutoff=10) == parse("nDCG@10")
    assert (nDCG @ 10) @ 5 == nDCG @ 5
    assert IPrec @ 0.5 == IPrec(recall=0.5)
    with pytest.raises(InputError, match="OPA has no cutoff"):
        OPA @ 10
    with pytest.raises(InputError, match="whole number"):
        nDCG @ "ten"


def test_numbers_of_numpy_are_numbers() -> None:
    assert nDCG @ np.int64(10) == nDCG @ 10
    assert type((nDCG @ np.int64(10)).cutoff) is int
    assert P(cutoff=5, level=np.float32(2)) == P(cutoff=5, level=2)  # type: ignore[arg-type]
    assert IPrec @ np.float64(0.5) == IPrec @ 0.5
    assert nDCG(gain={1: np.int64(3)}) == nDCG(gain={1: 3})  # type: ignore[arg-type]
    assert str(nDCG(gain={np.int64(1): np.float64(2)})) == "nDCG(gain={1: 2})"  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [True, 5.0, "5", 0, -1, [5]])
def test_what_is_no_cutoff(value: Any) -> None:
    with pytest.raises(InputError, match="cutoff"):
        P(cutoff=value)


@pytest.mark.parametrize("value", [True, "1", float("nan"), float("inf"), None])
def test_what_is_no_level(value: Any) -> None:
    with pytest.raises(InputError, match="level must be a number"):
        P(cutoff=5, level=value)


def test_tables_are_written_in_order_and_compare_by_content() -> None:
    one, two = CG(gain={2: 9, 1: 3}), CG(gain={1: 3.0, 2: 9})  # type: ignore[arg-type]
    assert one == two
    assert str(one) == "CG(gain={1: 3, 2: 9})"
    assert DCG(discount=[1, 0.5]) == DCG(discount={1: 1, 2: 0.5})  # type: ignore[arg-type]


@given(cutoff=st.integers(1, 10**6), p=st.floats(0, 1), level=st.floats(0, 1e6))
def test_any_number_survives_the_round_trip(cutoff: int, p: float, level: float) -> None:
    metric = RBP(cutoff=cutoff, p=p, level=level)
    assert parse(str(metric)) == metric


@given(text=st.text(max_size=20) | st.text("nDCGP@(),=.5'{}: _", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_many(text)
    except InputError:
        return
    assert all(isinstance(metric, Metric) for _, metric in found)


def test_a_metric_of_ones_own() -> None:
    class Doubling(Metric, aliases=("doubling_rank",)):
        """Each relevant document, worth half of the one before."""

        cutoff: Cutoff = None
        level: Level = 1.0

        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(self.level), "half each": 0.5**lists.rank})

    assert parse("doubling_rank(rel=2)@3") == Doubling(level=2, cutoff=3)
    scores = rs.evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "x": 1.5, "b": 1.0}}, ["Doubling", Doubling @ 1])
    assert scores["Doubling"] == 1 / 2 + 1 / 8
    assert scores["Doubling@1"] == 1 / 2


def test_a_cell_of_a_notebook_may_run_twice() -> None:
    def cell(value: float) -> type[Metric]:
        class Flat(Metric):
            def terms(self, lists: Lists) -> Terms:
                return Terms(lists, {"relevant": lists.relevant(1)}, out_of=value)

        return Flat

    first, second = cell(2.0), cell(4.0)
    assert type(parse("Flat")) is second
    assert (first().of([1]), parse("Flat").of([1])) == (1 / 2, 1 / 4)


def test_two_metrics_cannot_share_a_name() -> None:
    with pytest.raises(NameError, match="two of kind metric are called nDCG"):
        type("nDCG", (Metric,), {"__module__": "elsewhere"})
