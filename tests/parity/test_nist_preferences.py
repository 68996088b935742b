"""NIST's own expected output of trec_eval 10.0 for preferences and for several judges: every line, to every decimal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import rankscope as rs
from rankscope.metrics import parse_many

COUNTS = ("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret")
SHARES = tuple(f"prefs_{name}{end}" for end in ("", "_ret", "_imp") for name in ("simp", "pair", "avgjg"))
PREFS = (*COUNTS, *SHARES, "prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel_ret")
JUDGES = ("map_avgjg", "P_avgjg", "Rprec_mult_avgjg")

# qrels, run, measures, ties, expected output, and its lines without the run's name and the number of queries;
# for preferences, trec_eval orders tied documents by rising ids
CASES: dict[str, tuple[str, str, tuple[str, ...], Literal["trec", "docid"], str, int]] = {
    "prefs": ("prefs.test", "prefs.results.test", PREFS, "docid", "out.test.prefs", 14 * 25),
    "prefs with comments": ("prefs.comment.test", "prefs.results.test", PREFS, "docid", "out.test.prefs", 14 * 25),
    "qrels_prefs": ("qrels.test", "results.test", PREFS, "docid", "out.test.qrels_prefs", 14 * 4),
    "qrels_jg": ("qrels.123", "results.test", JUDGES, "trec", "out.test.qrels_jg", 20 * 4),
}  # fmt: skip


def lines_of(path: Path) -> dict[tuple[str, str], str]:
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    return {(row[1], row[0]): row[2] for row in rows if row[0] not in {"runid", "num_q"}}


def computed(
    qrels: Path, run: Path, names: tuple[str, ...], ties: Literal["trec", "docid"]
) -> dict[tuple[str, str], str]:
    metrics = dict(pair for name in names for pair in parse_many(name))
    scores = rs.evaluate(qrels, run, list(metrics.values()), queries="both", ties=ties)
    means = {mean.metric: mean.value for mean in scores.board}
    out: dict[tuple[str, str], str] = {}
    for name, metric in metrics.items():
        form = ".0f" if name in COUNTS else ".4f"
        out["all", name] = format(means[metric], form)
        values = zip(scores.runs[0].query_ids, scores.runs[0].values[metric].tolist(), strict=True)
        out |= {(query, name): format(value, form) for query, value in values}
    return out


@pytest.mark.parametrize("case", CASES)
def test_every_line(case: str, shared_data: Callable[[str], Path]) -> None:
    qrels, run, names, ties, output, lines = CASES[case]
    expected = lines_of(shared_data(f"trec_eval/{output}"))
    assert len(expected) == lines
    ours = computed(shared_data(f"trec_eval/{qrels}"), shared_data(f"trec_eval/{run}"), names, ties)
    assert ours == expected


def test_tied_documents_are_where_the_orders_differ(shared_data: Callable[[str], Path]) -> None:
    """One pair of tied documents of topic 301 shows that the order of ids is not the one of trec_eval's other measures."""
    expected = lines_of(shared_data("trec_eval/out.test.qrels_prefs"))
    run = shared_data("trec_eval/results.test")
    ours = computed(shared_data("trec_eval/qrels.test"), run, COUNTS, "trec")
    differ = {key for key, value in ours.items() if expected[key] != value}
    assert differ == {(query, name) for query in ("301", "all") for name in COUNTS[1:]}


@pytest.mark.parametrize(("asked", "kind"), [("prefs_simp_imp", "Prefs"), ("P_avgjg.7", "AvgP"), ("Rprec_mult_avgjg_0.40", "AvgRprec")])  # fmt: skip
def test_names_read_back(asked: str, kind: str) -> None:
    ((name, metric),) = parse_many(asked)
    assert type(metric).__name__ == kind
    again: list[tuple[str, Any]] = parse_many(name)
    assert again == [(name, metric)]
