"""NIST's own expected output of trec_eval 10.0 for preferences and for several judges: every line, to every decimal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.metrics import parse_many

COUNTS = ("num_q", "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret")
SHARES = tuple(f"prefs_{name}{end}" for end in ("", "_ret", "_imp") for name in ("simp", "pair", "avgjg"))
PREFS = (*COUNTS, *SHARES, "prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel_ret")
JUDGES = ("num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg")

# qrels, run, measures, expected output, and its lines without the run's name
CASES: dict[str, tuple[str, str, tuple[str, ...], str, int]] = {
    "prefs": ("prefs.test", "prefs.results.test", PREFS, "out.test.prefs", 14 * 25 + 1),
    "prefs with comments": ("prefs.comment.test", "prefs.results.test", PREFS, "out.test.prefs", 14 * 25 + 1),
    "qrels_prefs": ("qrels.test", "results.test", PREFS, "out.test.qrels_prefs", 14 * 4 + 1),
    "qrels_jg": ("qrels.123", "results.test", JUDGES, "out.test.qrels_jg", 20 * 4 + 1),
}  # fmt: skip


def lines_of(path: Path) -> dict[tuple[str, str], str]:
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    return {(row[1], row[0]): row[2] for row in rows if row[0] != "runid"}


def computed(qrels: Path, run: Path, names: tuple[str, ...]) -> dict[tuple[str, str], str]:
    metrics = dict(pair for name in names for pair in parse_many(name))
    scores = rs.evaluate(qrels, run, list(metrics.values()), queries="both")
    means = {mean.metric: mean.value for mean in scores.board}
    out: dict[tuple[str, str], str] = {}
    for name, metric in metrics.items():
        form = ".0f" if name in COUNTS else ".4f"
        out["all", name] = format(means[metric], form)
        values = zip(scores.runs[0].query_ids, scores.runs[0].values[metric].tolist(), strict=True)
        if name != "num_q":  # trec_eval prints it for all queries together
            out |= {(query, name): format(value, form) for query, value in values}
    return out


@pytest.mark.parametrize("case", CASES)
def test_every_line(case: str, shared_data: Callable[[str], Path]) -> None:
    qrels, run, names, output, lines = CASES[case]
    expected = lines_of(shared_data(f"trec_eval/{output}"))
    assert len(expected) == lines
    ours = computed(shared_data(f"trec_eval/{qrels}"), shared_data(f"trec_eval/{run}"), names)
    assert ours == expected


def test_tied_documents_stand_in_the_rising_order_of_their_ids() -> None:
    """As in trec_eval for preferences alone; its other measures have them fall."""
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    scores = rs.evaluate(qrels, run, ["Prefs", "RR"])
    assert (scores["Prefs"], scores["RR"]) == (1.0, 0.5)


@pytest.mark.parametrize(("asked", "kind"), [("prefs_simp_imp", "Prefs"), ("P_avgjg.7", "AvgP"), ("Rprec_mult_avgjg_0.40", "AvgRprec")])  # fmt: skip
def test_names_read_back(asked: str, kind: str) -> None:
    ((name, metric),) = parse_many(asked)
    assert type(metric).__name__ == kind
    again: list[tuple[str, Any]] = parse_many(name)
    assert again == [(name, metric)]
