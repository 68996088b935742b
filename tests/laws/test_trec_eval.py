"""Where a metric says it has a name in trec_eval, trec_eval gives the same number."""

import math
import os
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.declared import Lookup
from rankscope.metrics import CATALOGUE, parse_many
from rankscope.metrics.buckley import G, RnDCG, nDCGRel
from rankscope.testing import variants

if os.environ.get("RANKSCOPE_REQUIRE_PARITY"):
    import pytrec_eval
else:
    pytrec_eval = pytest.importorskip("pytrec_eval")

SUPPORTED = sorted(pytrec_eval.supported_measures, key=len, reverse=True)


def request(name: str) -> str | None:
    """The name as trec_eval is asked for it, or None where this build of it has no such measure."""
    for base in SUPPORTED:
        if name == base:
            return name
        if name.startswith(base + "_") and name[len(base) + 1 :].replace(".", "").isdigit():
            return f"{base}.{name[len(base) + 1 :]}"
    return None


def named() -> dict[str, Any]:
    """Every metric with a name, from the catalogue's variants and from trec_eval's own defaults."""
    metrics = {
        m for cls in dict.fromkeys(CATALOGUE.values()) if cls.__module__.startswith("rankscope.") for m in variants(cls)
    }
    metrics |= {metric for _, metric in parse_many("all_trec")}
    out: dict[str, Any] = {}
    for metric in metrics:
        name = metric.trec_name()
        # lists of values, as in 11pt_avg_.25,.5 or ndcg_1=3, are more than this tool can be asked for
        listed = name is not None and ("," in name or "=" in name or name.startswith("11pt_avg_"))
        if name is not None and not listed and request(name) and parse_many(name)[0][1] == metric:
            # 9.0.8 rounds the documents of a recall in its own way
            out[name] = metric.having(**{"compat": 9} if hasattr(metric, "compat") else {})
    return out


def world(seed: int, scores: int) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    qrels: dict[str, Any] = {}
    run: dict[str, Any] = {}
    for q in range(60):
        docs = [f"d{i:03}" for i in rng.permutation(60).tolist()]
        retrieved = docs[: int(rng.integers(1, 45))]
        run[f"q{q}"] = {
            d: float(s) for d, s in zip(retrieved, rng.integers(0, scores, size=len(retrieved)), strict=True)
        }
        judged = rng.choice(docs, size=int(rng.integers(1, 40)), replace=False).tolist()
        # one graded document at least: the other tool crashes where all grades are negative
        grades = [0, *rng.choice([-2, -1, 0, 0, 0, 1, 2, 3], size=len(judged) - 1).tolist()]
        qrels[f"q{q}"] = dict(zip(judged, grades, strict=True))
    return qrels, run


NAMED = named()


@pytest.mark.parametrize(("seed", "scores"), [(1, 10_000), (2, 6)], ids=["hardly a tie", "ties everywhere"])
def test_same_number_for_every_query(seed: int, scores: int) -> None:
    qrels, run = world(seed, scores)
    # one at a time: of two set_F with different values, the other tool computes one
    theirs = {name: pytrec_eval.RelevanceEvaluator(qrels, {str(request(name))}).evaluate(run) for name in NAMED}
    ours = rs.evaluate(qrels, run, list(NAMED.values()))
    one = ours.runs[0]
    for name, metric in NAMED.items():
        for query, value in zip(one.query_ids, one.values[metric].tolist(), strict=True):
            (expected,) = theirs[name][query].values()
            if name.startswith("gm_"):  # trec_eval keeps the logarithm until the end
                expected = math.exp(expected)
            assert (max(value, 1e-5) if name.startswith("gm_") else value) == pytest.approx(expected, abs=1e-9), (
                name,
                query,
            )


def test_enough_names_are_compared() -> None:
    assert len(NAMED) > 95
    assert {
        "map",
        "gm_map",
        "bpref",
        "infAP",
        "ndcg",
        "ndcg_cut_10",
        "P_5",
        "Rprec",
        "recip_rank",
        "iprec_at_recall_0.50",
        *("G", "binG", "Rndcg", "ndcg_rel", "utility", "set_map", "set_relative_P", "relative_P_5"),
        *("Rprec_mult_0.20", "num_nonrel_judged_ret"),
    } <= set(NAMED)


@pytest.mark.parametrize("gain", [{1: 3, 2: 9}, {1: 5, 2: 1, 3: 2}, {3: 100}])
def test_gains_are_grades_by_another_name(gain: dict[int, int]) -> None:
    """Given the gains as grades, the other tool says the same of the measures that take gains."""
    qrels, run = world(3, 10_000)
    renamed = {query: {doc: gain.get(x, x) for doc, x in docs.items()} for query, docs in qrels.items()}
    named = {name: cls(gain=Lookup.of(gain)) for name, cls in (("G", G), ("Rndcg", RnDCG), ("ndcg_rel", nDCGRel))}
    ours = rs.evaluate(qrels, run, list(named.values())).runs[0]
    theirs = pytrec_eval.RelevanceEvaluator(renamed, set(named)).evaluate(run)
    for name, metric in named.items():
        expected = [theirs[query][name] for query in ours.query_ids]
        assert ours.values[metric].tolist() == pytest.approx(expected, abs=1e-12), name
