"""A prior learnt from past experiments: its spread is found again, shrunken lifts are nearer to the truth, and files are checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.made.experiments import users

import rankscope as rs
from rankscope.errors import InputError
from rankscope.inference.effects import Prior
from rankscope.verbs.experiment.beliefs import prior_of


@pytest.mark.parametrize("spread", [0.01, 0.05])
def test_the_spread_of_true_effects_is_found_again(spread: float) -> None:
    draws = np.random.default_rng(1)
    errors = draws.uniform(0.005, 0.03, 4000)
    effects = draws.normal(0, spread, 4000) + draws.normal(0, errors)
    assert Prior.learnt(effects, errors).deviation == pytest.approx(spread, rel=0.1)


def test_selected_effects_are_too_large_and_shrunken_ones_are_not() -> None:
    draws = np.random.default_rng(2)
    truth = draws.normal(0, 0.02, 4000)
    seen = truth + draws.normal(0, 0.02, 4000)
    prior = Prior.learnt(seen, np.full(4000, 0.02))
    kept = prior.deviation**2 / (prior.deviation**2 + 0.02**2)
    chosen = seen > 1.96 * 0.02
    assert seen[chosen].mean() > 1.5 * truth[chosen].mean()
    assert kept * seen[chosen].mean() == pytest.approx(truth[chosen].mean(), rel=0.1)


def test_results_of_experiments_and_a_table_are_read(tmp_path: Path) -> None:
    found = [
        rs.experiment(users(seed=seed, lift=lift), "Mean(revenue)")
        for seed, lift in ((1, 3.0), (2, -2.0), (3, 1.0), (4, 3.0))
    ]
    past = tmp_path / "past.jsonl"
    past.write_text("".join(one.to_json().replace("\n", " ") + "\n" for one in found))
    learnt = prior_of(past)
    table = tmp_path / "past.csv"
    rows = [(np.log1p(c.relative[0]), (np.log1p(c.relative[1].upper) - np.log1p(c.relative[1].lower)) / 2 / 1.959963984540054)
            for one in found for c in one.contrasts]  # fmt: skip
    table.write_text("effect,standard_error\n" + "".join(f"{effect},{error}\n" for effect, error in rows))
    assert learnt.deviation == pytest.approx(prior_of(str(table)).deviation)
    text = list(rs.experiment(users(seed=14, lift=3.0), "Mean(revenue)", prior=str(past)).sentences())
    assert any("learnt from 4 effects in past.jsonl" in sentence for sentence in text)


@pytest.mark.parametrize(("name", "text", "message"), [
    ("a.csv", "lift,se\n0.1,0.1\n", "needs the columns effect and standard_error"),
    ("a.csv", "effect,standard_error\n0.1,0.1\n", "1 effect, give 3 or more"),
    ("a.csv", "effect,standard_error\n0.1,0.1\n0.1,0\n0.2,0.1\n", "above 0"),
    ("a.csv", "effect,standard_error\n0.01,0.1\n0.0,0.1\n-0.02,0.1\n", "no more than chance"),
    ("a.json", "{}", "not the JSON of rankscope experiment"),
    ("a.json", "no", "not the JSON of rankscope experiment"),
])  # fmt: skip
def test_other_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        prior_of(str(path))
