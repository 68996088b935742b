"""A request: what it states, in what it differs from another, and that what it states reproduces the numbers."""

from __future__ import annotations

import gzip
import inspect
import json
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest

import rankscope as rs
from rankscope.dialects import Convention
from rankscope.dialects import base as dialects
from rankscope.errors import InputError
from rankscope.metrics import parse
from rankscope.scoring.keywords import PolicyOptions
from rankscope.scoring.policies import BY_METRIC, MIXED, POLICIES, Policies, Policy
from rankscope.scoring.request import Request

QRELS: dict[str, dict[str, int]] = {
    "q1": {"a": 2, "b": 0, "q1": 1}, "q2": {"a": 1, "c": 3}, "q3": {"a": 0}, "q4": {"d": 1}, "q6": {"e": 1},
}  # fmt: skip
RUN = {
    "q1": {"b": 2.0, "a": 2.0, "q1": 2.0, "x": 1.0}, "q2": {"x": 1.0, "c": 1.0, "y": 0.5, "a": 0.5}, "q3": {"a": 1.0},
    "q5": {"a": 1.0}, "q6": {"x": 3.0},
}  # fmt: skip
METRICS = ["nDCG@2", "AP", "RR", "P@1"]
CHUNKS = {"b": "a", "x": "c", "y": "c"}
WEIGHTS = {"q1": 3.0, "q2": 1.0, "q3": 0.5, "q4": 2.0, "q6": 1.0}
# values beside those that a policy names: numbers, ids, weights
OTHERS: dict[str, list[Any]] = {
    "queries": [["q1", "q2"]], "depth": [None, 1, 2], "weights": [None, WEIGHTS], "dialect": [None, "lightgbm", "recbole"],
    "seed": [0, 7], "fold": [CHUNKS], "fold_by": [None, "^q"],
}  # fmt: skip


def chosen() -> Iterator[dict[str, Any]]:
    """Every value of every policy, alone and under orders of ties that draw."""
    for name, policy in POLICIES.items():
        for value in [*(v for v in policy.values if v not in {"list", "rank"}), *OTHERS.get(name, [])]:
            more = {"fold": CHUNKS} if name in {"fold_score", "fold_cutoffs"} else {}
            yield {name: value, **more}
            if name not in {"ties", "dialect"}:
                yield {name: value, "ties": "expected", **more}


def metrics_for(policies: dict[str, Any], usual: list[str]) -> list[str]:
    """The metrics, written as those of sampled candidates if these are scored."""
    sampled = policies.get("candidates") == "sampled"
    return [f"Sampled(metric='{metric}', items=100)" for metric in usual] if sampled else usual


def name_of(policies: dict[str, Any]) -> str:
    return " ".join(f"{n} {v if isinstance(v, str | int) else type(v).__name__}" for n, v in policies.items())


@pytest.mark.parametrize("policies", [*chosen()], ids=name_of)
def test_what_conventions_state_reproduces_the_numbers(policies: dict[str, Any]) -> None:
    metrics = metrics_for(policies, ["nDCG@2"] if policies.get("dialect") else METRICS)
    scores = rs.evaluate(QRELS, RUN, metrics, **policies)
    stated = json.loads(scores.to_json(per_query=True))["conventions"]
    again = {name: stated[name] for name in POLICIES if stated[name] is not None}
    if stated["dialect"]:
        again = {name: value for name, value in again.items() if name not in {p.name for p in BY_METRIC}}
    if again.get("queries") == "list":  # ids and weights stand in the values, and where they were given
        again["queries"] = list(scores.runs[0].query_ids)
    if again.get("weights"):
        again["weights"] = WEIGHTS
    if again.get("fold"):
        again["fold"] = CHUNKS
    other = rs.evaluate(QRELS, RUN, metrics, **again)
    assert other.rows == scores.rows
    assert other.to_dicts("per_query") == scores.to_dicts("per_query")
    assert not other.request.differs(scores.request)


@pytest.mark.parametrize("policies", [*chosen()], ids=name_of)
def test_options_state_what_was_asked_for(policies: dict[str, Any]) -> None:
    request = Request.of(metrics_for(policies, ["nDCG@5"] if policies.get("dialect") else METRICS), policies)
    words = shlex.split(request.options())
    told = dict(zip(words[::2], words[1::2], strict=True))
    for name, value in policies.items():
        option = f"--{name.replace('_', '-')}"
        if value == POLICIES[name].default or (name == "seed" and policies.get("ties") != "expected"):
            assert option not in told
        elif name == "queries" and not isinstance(value, str):
            assert told[option] == "@FILE"
        elif name not in {"weights", "fold"}:
            assert told[option] == str(value)


def test_values_that_the_types_name_are_those_of_the_policies() -> None:
    kinds = {
        "ties": dialects.Ties, "queries": dialects.Population, "no_relevant": dialects.NoRelevant,
        "nothing_found": dialects.NothingFound, "mean": dialects.Mean,
    }  # fmt: skip
    assert {name: set(get_args(kind)) for name, kind in kinds.items()} == {
        policy.name: set(policy.values) for policy in BY_METRIC
    }
    assert set(PolicyOptions.__annotations__) == set(POLICIES)
    assert {p.name for p in BY_METRIC} == {f.name for f in fields(Convention)} - {"looks_at"}
    for policy in BY_METRIC:
        assert getattr(Convention(), policy.name) == policy.default


def test_every_policy_is_told_in_full() -> None:
    for name, policy in POLICIES.items():
        assert policy.help, name
        assert policy.title, name
        assert type(policy).__doc__, name
        assert policy.accepts(policy.default) or policy.default is None
        for value in policy.values:
            assert policy.words(value) == policy.values[value]
            assert not policy.sentence(value) or policy.sentence(value).endswith(".")


def test_the_function_shows_every_policy_with_its_default() -> None:
    shown = inspect.signature(rs.evaluate).parameters
    for name, policy in POLICIES.items():
        assert shown[name].default == policy.default
        assert f"``{name}``" in str(rs.evaluate.__doc__)
    with pytest.raises(InputError, match="evaluate has no option 'tie', did you mean ties"):
        rs.evaluate(QRELS, RUN, "RR", tie="trec")  # type: ignore[call-overload]


def test_small_print_and_paragraph_tell_what_departs() -> None:
    for name, policy in POLICIES.items():
        for value in policy.values:
            if value in {policy.default, "list"} or name in {"ties", "queries"}:
                continue
            given = {name: value, **({"fold": CHUNKS} if name.startswith("fold_") else {})}
            request = Request.of(metrics_for(given, ["AP"]), given)
            assert policy.brief(value) in request.small_print(), name
            assert policy.sentence(value) in list(request.sentences()), name
    plain = Request.of("AP")
    assert plain.small_print() == "ties: score, then document id, both descending · relevant: grade ≥ 1"


def test_a_request_with_other_metrics_keeps_what_was_asked_for() -> None:
    request = Request.of(["map", "nDCG@5"], {"ties": "docid", "depth": 7})
    other = request.with_metrics(parse("AP"), parse("RR"))
    assert [(m.spelling, str(m.metric), m.convention.ties) for m in other.metrics] == [
        ("map", "AP", "docid"), ("RR", "RR", "docid"),
    ]  # fmt: skip
    assert other.policies is request.policies
    assert not request.differs(other)


@pytest.mark.parametrize(("name", "value"), [("ties", "worst"), ("depth", 3), ("queries", ["q1"]), ("seed", 4)])
def test_a_request_under_other_policies(name: str, value: Any) -> None:
    request = Request.of("AP", {"ties": "expected"})
    other = request.with_policies(**{name: value})
    assert other.differs(request) == request.differs(other) == [POLICIES[name]]
    assert (
        rs.evaluate(QRELS, RUN, "AP", **{"ties": "expected", name: value}).request.conventions() == other.conventions()
    )


def test_in_a_dialect_metrics_keep_their_own_conventions() -> None:
    name = "recbole"
    request = Request.of(["nDCG@5", "AP@5"], {"dialect": name})
    other = request.with_policies(ties="docid")
    assert {m.convention.ties for m in other.metrics} == {"docid"}
    assert other.policies.dialect == name
    assert request.conventions()["ties"] in {*POLICIES["ties"].values, MIXED}


@pytest.mark.parametrize("ties", ["best", "worst", "expected"])
def test_a_seed_that_may_change_numbers_is_stated(ties: Any) -> None:
    one, two = (rs.evaluate(QRELS, RUN, "AP", ties=ties, seed=seed) for seed in (0, 1))
    assert (one.conventions["seed"], two.conventions["seed"]) == (0, 1)
    assert one.request.differs(two.request) == [POLICIES["seed"]]


def test_a_seed_that_changes_nothing_is_not() -> None:
    assert rs.evaluate(QRELS, RUN, "AP", seed=3).conventions["seed"] is None


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "json", "tsv"])
def test_weights_are_read_as_clusters_are(tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame({"query_id": list(WEIGHTS), "weight": list(WEIGHTS.values())})
    place = tmp_path / f"w.{ending}"
    if ending == "parquet":
        frame.write_parquet(place)
    elif ending == "json":
        place.write_text(json.dumps(frame.to_dicts()))
    else:
        text = frame.write_csv(separator="\t" if ending == "tsv" else ",").encode()
        place.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    wanted = rs.evaluate(QRELS, RUN, "AP", weights=WEIGHTS)
    found = rs.evaluate(QRELS, RUN, "AP", weights=place)
    assert found["AP"] == wanted["AP"]
    assert found.conventions["weights"] == str(place)
    clusters = rs.evaluate(QRELS, RUN, "AP", clusters=place)
    assert clusters.conventions["clusters"] == str(place)


def test_policies_that_do_not_go_together() -> None:
    with pytest.raises(InputError, match="goes by score and ties='rank' does not"):
        Policies(ties="rank", duplicates="best")
    with pytest.raises(InputError, match="has conventions of its own: leave mean out"):
        Policies(dialect="lightgbm", mean="micro")
    assert Policies(depth=3).having(ties="docid").depth == 3


def test_a_declared_policy_is_known_everywhere() -> None:
    class Empty(Policy):
        """What becomes of a query without any result."""

        name, default, title = "empty_lists", "keep", "empty lists"
        values = {"keep": "scored as empty", "drop": "left out"}  # noqa: RUF012

    try:
        scores = rs.evaluate(QRELS, RUN, "AP", empty_lists="drop")  # type: ignore[call-overload]
        assert scores.conventions["empty_lists"] == "drop"
        assert ("empty lists", "left out") in list(scores.request.in_words())
        assert scores.request.options() == " --empty-lists drop"
        assert scores.request.differs(Request.of("AP")) == [POLICIES["empty_lists"]]
    finally:
        del POLICIES["empty_lists"]
