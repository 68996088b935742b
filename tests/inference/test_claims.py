"""What outputs claim, in worlds whose truth is known: a small seeded part of ``make calibrate``, and the page that it writes."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.made.samples import sampled

TOOLS = Path(__file__).resolve().parents[2] / "tools"
ROOM = 3.5  # standard errors


@pytest.fixture(scope="module")
def tool() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOOLS))
        yield import_module("claims")


with pytest.MonkeyPatch.context() as path:
    path.syspath_prepend(str(TOOLS))
    CLAIMS = import_module("claims").claims()


@pytest.mark.parametrize("claim", sampled(CLAIMS, 14), ids=lambda claim: f"{claim.row}, {claim.cell}")
def test_a_claim_holds_in_a_few_worlds(claim: Any, tool: Any) -> None:
    found = tool.Tally()
    for number in range(claim.few):
        found.add(claim.draw(number))
    answers = found.tried - found.withheld
    if not answers:
        return
    room = ROOM * 100 * np.sqrt([max(p * (100 - p), 100) / 1e4 / answers for p in (claim.low, claim.high)])
    assert claim.low - room[0] <= found.rate[0] <= claim.high + room[1]


def test_what_was_measured_keeps_what_is_claimed(tool: Any) -> None:
    for claim in CLAIMS:
        tally = tool.read()[claim.key]["after"]
        assert tally.tried == claim.samples, f"make calibrate measures {claim.key}"
        rate, error = tally.rate
        if tally.withheld < 0.9 * tally.tried:
            assert claim.low - 3 * error <= rate <= claim.high + 3 * error, claim.key


def test_the_page_has_what_was_measured(tool: Any) -> None:
    assert tool.section() in tool.PAGE.read_text(encoding="utf-8")


def test_a_claim_is_named_once() -> None:
    keys = [claim.key for claim in CLAIMS]
    assert len(keys) == len(set(keys))


def test_measuring_goes_on_where_it_stopped(tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "STORE", tmp_path / "claims.json")
    coin = tool.Claim("a coin", "fair", "50", 40, 60, lambda rng: bool(rng.random() < 0.5), 40)
    tool.measure([coin], "after", 0.0)
    first = tool.read()[coin.key]["after"]
    assert 0 < first.tried < 40
    tool.measure([coin], "after", 60.0)
    whole = tool.Tally()
    for number in range(40):
        whole.add(coin.draw(number))
    assert tool.read()[coin.key]["after"] == whole
