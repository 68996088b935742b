"""A small log of each format, made up: files where there are any, else what Python has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _open_bandit(folder: Path) -> Path:
    header = ",timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0\n"
    rows = "".join(
        f"{n},2019-11-24 00:00:{n:02}+00:00,{n % 5},{n % 3 + 1},{int(n % 4 == 0)},0.2,f,0.0\n" for n in range(12)
    )
    (folder / "random.csv").write_text(header + rows)
    return folder / "random.csv"


def _obp(_: Path) -> dict[str, Any]:
    return {
        "n_rounds": 4,
        "n_actions": 2,
        "action": [0, 1, 1, 0],
        "position": [0, 0, 1, 1],
        "reward": [1, 0, 0, 1],
        "pscore": [0.5] * 4,
    }


def _ubi(folder: Path) -> Path:
    queries = [
        {"query_id": f"q{n}", "client_id": f"c{n}", "user_query": "tv", "timestamp": f"2024-05-01T12:00:{n:02}Z",
         "query_response_hit_ids": ["a", "b"], "query_attributes": {"variant": "AB"[n % 2]}} for n in range(20)]  # fmt: skip
    events = [
        {"query_id": f"q{n}", "client_id": f"c{n}", "action_name": "click", "timestamp": f"2024-05-01T12:01:{n:02}Z",
         "event_attributes": {"object": {"object_id": "ab"[n % 2]}, "position": {"ordinal": n % 2 + 1}}} for n in range(0, 20, 3)]  # fmt: skip
    for name, objects in {"ubi_queries": queries, "ubi_events": events}.items():
        (folder / f"{name}.ndjson").write_text("".join(json.dumps(one) + "\n" for one in objects))
    return folder


def _yandex(folder: Path) -> Path:
    (folder / "clicks.txt").write_text(
        "s1\t0\tQ\tq7\tr1\tu1\tu2\ns1\t20\tC\tu2\ns2\t0\tQ\tq7\tr1\tu1\tu2\ns2\t31\tC\tu1\n"
    )
    return folder / "clicks.txt"


def _growthbook(folder: Path) -> Path:
    exposures = "".join(f"u{n},2024-05-01 12:00:00,e,{n % 2}\n" for n in range(20))
    revenue = "".join(f"u{n},2024-05-02 12:00:00,{n * 7 % 11}\n" for n in range(20))
    (folder / "experiment_viewed.csv").write_text(f"user_id,timestamp,experiment_id,variation_id\n{exposures}")
    (folder / "revenue.csv").write_text(f"user_id,timestamp,value\n{revenue}")
    return folder


def _interleaved(folder: Path) -> Path:
    rows = "".join(
        f"2024-05-01T12:00:{n:02}Z,s{n},serp,NA,NA\n2024-05-01T12:01:{n:02}Z,s{n},click,2,{'AB'[n // 2 % 2]}\n"
        for n in range(0, 8, 2)
    )
    (folder / "events.csv").write_text(
        f"timestamp,search_id,event,position,ranking_function\n{rows}2024-05-01T12:00:59Z,s9,serp,NA,NA\n"
    )
    return folder / "events.csv"


SAMPLES: dict[str, Callable[[Path], Any]] = {
    "open_bandit": _open_bandit, "obp": _obp, "ubi": _ubi, "yandex": _yandex, "growthbook": _growthbook, "interleaved": _interleaved,
}  # fmt: skip


def sample(name: str, folder: Path) -> Any:
    """A log of a format, written into a folder of its own where it has files."""
    own = folder / name
    own.mkdir(exist_ok=True)
    return SAMPLES[name](own)
