"""What other tools print for a metric, and which conventions give a number."""

from __future__ import annotations

import json
import math
from random import Random

import pytest

import rankscope as rs
from rankscope.engines import mappings
from rankscope.errors import InputError
from rankscope.scoring.definitions import MetricDefinition, changes, options_of
from rankscope.scoring.inputs import read_inputs
from rankscope.scoring.policies import Policies
from rankscope.verbs.reconcile.reconcile import _Bench, reconcile

QRELS = {"q1": dict.fromkeys("abcde", 1), "q2": {"a": 1}}
ONE = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
FIVE = {"q1": {doc: float(-i) for i, doc in enumerate("xyabc")}, "q2": {"a": 1.0}}


def test_every_number_is_what_evaluate_gives_in_the_dialect() -> None:
    found = reconcile(QRELS, ONE, "nDCG@10")
    assert (found.tools[0].dialect, found.ours) == ("rankscope", (rs.evaluate(QRELS, ONE, "nDCG@10")["nDCG@10"],))
    tried = 0
    for tool in found.tools[1:]:
        if tool.values is not None:
            value = rs.evaluate(QRELS, ONE, "nDCG@10", dialect=tool.dialect)["nDCG@10"]
            assert tool.values[0] == pytest.approx(value, nan_ok=True), tool.dialect
            tried += 1
    assert tried > 5


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("RR", "tools that have RR agree: 1.0000."),
        ("P@1", "known tools that have P@1 agree"),
        ("AP", " give another value."),
        ("nDCG@10", ", and the rest give "),
    ],
)
def test_other_values_are_counted(metric: str, said: str) -> None:
    assert said in str(reconcile({"q": {"a": 1, "c": 1}}, {"q": {"a": 2.0, "b": 1.0}}, metric)).splitlines()[0]


def test_a_number_of_a_defect_is_never_computed() -> None:
    rows = [row for name in ("nDCG@10", "AP@10", "RR@10", "P@10", "R@10") for row in reconcile(QRELS, ONE, name).rows]
    broken = [row for row in rows if row["metric"] is None]
    assert all(row["value"] is None and row["defect"] and not row["same"] for row in broken)


def test_a_number_is_explained_by_what_departs() -> None:
    found = reconcile(QRELS, ONE, "nDCG@10", value="1.000")
    first = found.matches[0]
    assert first.value == pytest.approx(1.0, abs=5e-4)
    assert ("ideal", "judged_at_returned") in first.departures
    assert {"mlflow", "autorag", "phoenix"} <= {name for match in found.matches for name in match.dialects}
    assert str(found).startswith("1.000 is printed by ")
    assert reconcile(QRELS, ONE, "nDCG@10", value=found.ours[0]).matches[0].departures == ()
    assert "No known convention gives 0.123" in str(reconcile(QRELS, ONE, "nDCG@10", value="0.123"))


def test_a_number_without_a_convention_has_a_nearest_one() -> None:
    """Our values are written with as many digits as the number in question has."""
    ours = 1 / math.log2(3)  # one relevant document, at rank 2
    qrels, run = {"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}}
    first = reconcile(qrels, run, "nDCG@10", value="0.63094").sentences()
    assert f"gives 0.63094: the nearest is {ours:.5f}, nDCG@10 itself, and tools print" in next(iter(first))
    far = next(iter(reconcile(qrels, run, "nDCG@10", value="0.0123").sentences()))
    assert f"gives 0.0123: nDCG@10 is {ours:.4f}, and tools print" in far
    assert "the nearest" in far
    undefined = next(iter(reconcile({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, "AUC", value="0.3").sentences()))
    assert "AUC is undefined, and tools print 0.0000, the nearest 0.0000 (" in undefined


def test_a_percentage_is_taken_for_one() -> None:
    found = reconcile({"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "x": 1.0}}, "P@2", value="50.0")
    assert found.value == "50.0%"
    assert found.matches[0].value == 0.5


@pytest.mark.parametrize("value", ["high", True, float("nan")])
def test_what_is_no_number(value: object) -> None:
    with pytest.raises(InputError, match="give the printed number"):
        reconcile(QRELS, ONE, "nDCG@10", value=value)  # type: ignore[arg-type]


def test_the_winner_may_depend_on_the_convention() -> None:
    found = reconcile(QRELS, {"one": ONE, "five": FIVE}, "nDCG@10")
    winners = {name: run for run, names in found.winners.items() for name in names}
    assert (winners["rankscope"], winners["mlflow"]) == ("five", "one")
    assert "The choice of convention changes which run is best" in str(found)


def test_several_metrics_are_one_result() -> None:
    both = reconcile(QRELS, ONE, ["P@1", "AP@10"])
    alone = [reconcile(QRELS, ONE, name) for name in ("P@1", "AP@10")]
    assert both.rows == [row for one in alone for row in one.rows]
    assert list(both.sentences()) == [text for one in alone for text in one.sentences()]
    assert [part["asked"] for part in json.loads(both.to_json())["metrics"]] == ["P@1", "AP@10"]
    assert both.to_text() == "\n".join(one.to_text().rstrip("\n") for one in alone) + "\n"


def test_without_a_metric_it_is_about_the_usual_one() -> None:
    assert {row["asked"] for row in reconcile(QRELS, ONE, None).rows} == {"nDCG@10"}


def world(ties: int, extra: bool) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Three queries with this many levels of score, 30 documents each; the third is judged and not ranked, a fourth ranked and not judged."""
    rng = Random(ties)
    docs = [f"d{i}" for i in range(30)]
    qrels = {f"q{n}": {doc: rng.choice([0, 1, 2, 3]) for doc in rng.sample(docs, 9)} for n in range(3)}
    run = {f"q{n}": {doc: float(rng.randrange(ties)) for doc in docs} for n in ((0, 1, 3) if extra else (0, 1))}
    return qrels, run


@pytest.mark.parametrize("extra", [True, False], ids=["a query without judgments", "no other query"])
@pytest.mark.parametrize("ties", [1, 4, 1000], ids=["all tied", "many tied", "few tied"])
@pytest.mark.parametrize("metric", ["nDCG@10", "Rprec", "AP"])
def test_the_search_computes_what_evaluate_computes(metric: str, ties: int, extra: bool) -> None:
    """On what was judged once, with values and orders shared between its rounds: the same bits."""
    qrels, run = world(ties, extra)
    plain = MetricDefinition(rs.parse(metric))
    searched, alone = (_Bench(*read_inputs(qrels, run, Policies()), Policies()) for _ in range(2))
    searched.begin([plain])
    for count in (1, 2):
        searched.add(filter(None, map(plain.having, changes(options_of(plain), count))))
    assert len(searched.values) > 60
    some = list(searched.values)[::7]
    for way in some:
        alone.begin([way])
    assert {way: repr(searched.values[way]) for way in some} == {way: repr(alone.values[way]) for way in some}


def test_a_number_that_nothing_explains_is_judged_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    judge = mappings.judge
    monkeypatch.setattr(
        mappings,
        "judge",
        lambda r, q, order, label: (asked.append(order.ties), judge(r, q, order, label))[1],  # type: ignore[func-returns-value]
    )
    assert reconcile(*world(4, extra=True), "nDCG@10", value="0.123456789").matches == []
    assert sorted(asked) == ["input", "trec"]  # and by rising ids is by falling ones in reverse
