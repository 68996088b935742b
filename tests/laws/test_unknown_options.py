"""An option that a verb does not know is refused by its name, whatever the verb was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.made.experiments import users
from tests.made.results import METRICS, REVENUE, clicks, one, pair, result, world

import rankscope as rs

CALLS: dict[str, Callable[..., Any]] = {
    "evaluate": lambda **more: rs.evaluate(*world(), METRICS, **more),
    "evaluate_arrays": lambda **more: rs.evaluate_arrays([1, 0], [0.9, 0.8], group=[2], metrics=METRICS, **more),
    "an evaluator": lambda **more: rs.Evaluator(world()[0], METRICS, **more),
    "compare": lambda **more: rs.compare(*world(), METRICS, **more),
    "compare scores": lambda **more: rs.compare(result("evaluate"), metrics="AP", **more),
    "gate": lambda **more: rs.gate(world()[0], one(), pair()["good"], METRICS, **more),
    "gate of a log": lambda **more: rs.gate(users(seed=5), metrics=REVENUE, **more),
    "power": lambda **more: rs.power(world()[0], pair(), METRICS, **more),
    "power of a deviation": lambda **more: rs.power(deviation=0.2, **more),
    "power of a design": lambda **more: rs.power(design="t", variance=0.05, difference=0.1, **more),
    "power of a log": lambda **more: rs.power(users(seed=5), metrics=REVENUE, **more),
    "explain": lambda **more: rs.explain(world()[0], one(), "nDCG@10", query="q01", **more),
    "explain a list": lambda **more: rs.explain([1, 0, 1], metric="AP", **more),
    "diagnose": lambda **more: rs.diagnose(world()[0], one(), "nDCG@10", **more),
    "check": lambda **more: rs.check(*world(), METRICS, **more),
    "check a log": lambda **more: rs.check(clicks(), **more),
    "unjudged": lambda **more: rs.unjudged(*world(), "nDCG@10", **more),
    "pool": lambda **more: rs.pool(*world(), METRICS, **more),
    "ties": lambda **more: rs.ties(*world(), METRICS, **more),
    "reconcile": lambda **more: rs.reconcile(*world(), "nDCG@10", **more),
    "advise": lambda **more: rs.advise(*world(), **more),
    "simulate": lambda **more: rs.simulate(users=20, items=5, **more),
    "catalogue": lambda **more: rs.catalogue("nDCG", **more),
    "online": lambda **more: rs.online(clicks(), **more),
    "experiment": lambda **more: rs.experiment(users(seed=5), REVENUE, **more),
    "merge": lambda **more: rs.merge([rs.evaluate(world()[0], one(), METRICS, partition="1/1")], **more),
    "report": lambda **more: rs.report(*world(), METRICS, **more),
    "report of a log": lambda **more: rs.report(users(seed=5), metrics=REVENUE, **more),
    "report of a result": lambda **more: rs.report(result("pool"), **more),
}


@pytest.mark.parametrize("name", CALLS)
def test_unknown_options_are_refused_by_name(name: str) -> None:
    with pytest.raises((TypeError, ValueError), match="foo"):
        CALLS[name](foo=1)
