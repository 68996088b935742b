"""Online metrics against the reference on logs with odd cells, and the reference against sums by hand."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzzing import logs
from tests.reference import online
from tests.reference.readers import Refused

import rankscope as rs

SEED = 26
HEAD = "user,session,list_id,query,time,item,position,shown,click,dwell,conversion,revenue,reward,wait,variant"
ROWS = [
    "u1,s1,l1,a,2024-05-01T10:00:00Z,d1,1,1,1,40,1,5,,2,A",
    "u1,s1,l1,a,2024-05-01T10:00:30Z,d2,2,1,0,,0,0,,3,A",
    "u1,s2,l2,b,2024-05-02T00:00:00Z,d1,1,1,0,,0,0,1,,A",
    "u2,s3,l3,a,2024-05-01T23:59:59Z,d1,1,1,0,,0,0,0,7,B",
    "u2,s3,l4,c,2024-05-02T00:04:59Z,d2,1,1,1,10,0,0,,1,B",
    "u3,s4,l5,a,2024-05-03T23:59:59Z,d1,1,1,0,,0,0,,,A",
]
LOG = "\n".join([HEAD, *ROWS, ""]).encode()
BY_HAND = {
    "CTR": (2, 6), "ListCTR": (2, 5), "Abandonment": (3, 5), "GoodAbandonment": (1, 2), "CVR": (1, 2), "RPM": (5000, 6),
    "OrderValue": (5, 1), "Dwell": (50, 2), "SatisfiedClicks": (1, 6), "SessionLength": (30 + 300, 4), "ItemsPerSession": (6, 4),
    "SessionsPerUser": (4, 3), "TimeToSuccess": (0 + 300, 2), "ReformulationRate": (1, 5), "ReturnRate@1": (2, 2),
    "Retention@1": (2, 2), "LTV@2": (5, 2), "Mean(wait)": (5 + 8, 2), "Mean(wait, empty='zero')": (13, 3), "Attribute(wait)": (2 + 7, 2),
    "Quantile(wait, q=0.5)": (2, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_the_reference_and_rankscope_give_the_sums_by_hand(name: str, tmp_path: Path) -> None:
    above, below = online.METRICS[name](online.read(LOG))
    assert (above, below) == BY_HAND[name]
    (tmp_path / "log.csv").write_bytes(LOG)
    assert rs.online(tmp_path / "log.csv", name)[name] == pytest.approx(above / below, abs=1e-12)


def test_logs_with_odd_cells_have_the_values_of_the_reference(tmp_path: Path) -> None:
    path, found = tmp_path / "log.csv", []
    for number in range(12):
        rng = Random(f"{SEED} {number}")
        path.write_bytes(data := logs.log(rng))
        found += logs.breaches(path, data, rng)
    assert found == []


def test_the_logs_hold_faulty_cells_and_sound_ones() -> None:
    refused = 0
    for number in range(60):
        try:
            online.read(logs.log(Random(f"{SEED} {number}")))
        except Refused:
            refused += 1
    assert 0 < refused < 20


def test_what_is_planted_in_a_log_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, rng = tmp_path / "log.csv", Random(1)
    path.write_bytes(LOG)
    monkeypatch.setattr(logs, "ASKED", len(online.METRICS))
    assert logs.breaches(path, LOG, rng) == []
    monkeypatch.setitem(online.METRICS, "CTR", lambda rows: (1.0, 3.5))
    assert [kind for kind, *_ in logs.breaches(path, LOG, rng)] == ["another value of CTR"]
    faulty = LOG.replace(b",0,,0,0,,3,A", b",x,,0,0,,3,A")
    path.write_bytes(faulty)
    assert logs.breaches(path, faulty, rng) == []
    assert all(kind.startswith("refuses ") for kind, *_ in logs.breaches(path, LOG, rng))

    def broken(path: Any) -> Any:
        raise KeyError(path)

    monkeypatch.setattr(rs, "check", broken)
    with pytest.raises(KeyError):
        logs.look(str(path))
