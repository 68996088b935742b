"""RecTools and RePlay, which need an older numpy, and so an environment of their own."""

from __future__ import annotations

import json
import subprocess
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from conformance_base import Absent, Pair, Said, Tool
from conformance_data import SIX, Data, demo

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-recommenders" / "bin" / "python"
PEER = ROOT / "tests" / "parity" / "recommenders_peer.py"
AT = (3, 10)


def asked(*command: str | Path, given: str = "") -> str:
    """What a program says in the other environment."""
    if not PYTHON.exists():
        raise Absent("RecTools and RePlay are not installed (.venv-recommenders, made by make test)")
    found = subprocess.run([PYTHON, "-W", "ignore", *command], input=given, capture_output=True, text=True, check=False)
    if found.returncode:
        raise Absent(f"RecTools and RePlay do not run in .venv-recommenders: {found.stderr.strip()[-200:]}")
    return found.stdout


@lru_cache(maxsize=4)
def _said(data: Data) -> Any:
    truth = {user: [item for item, grade in docs.items() if grade] for user, docs in data.qrels.items()}
    lists = [
        (user, item, docs[item])
        for user, docs in data.run.items()
        for item in sorted(docs, key=lambda item: docs[item], reverse=True)
    ]
    return json.loads(asked(PEER, given=json.dumps({"truth": truth, "lists": lists, "at": AT})))


def _theirs(tool: str, name: str, data: Data) -> Said:
    each = dict(_said(data)[tool][name])
    return Said(each.pop("all"), each)


def version(package: str) -> str:
    """The release there."""
    return asked("-c", f"from importlib.metadata import version; print(version({package!r}))").strip()


# what the peer calls it, how it is called there, ours, the plain name, the dialect
RECTOOLS = [
    ("P", "Precision(k={k})", "P@{k}", "", "rectools"),
    ("achievable P", "Precision(k={k}, r_precision=True)", "P(denominator='min_k_relevant')@{k}", "P@{k}", "rectools-achievable"),
    ("R", "Recall(k={k})", "R@{k}", "", "rectools"),
    ("F", "F1Beta(k={k})", "F@{k}", "", "rectools"),
    ("AP", "MAP(k={k})", "AP@{k}", "", "rectools"),
    ("achievable AP", "MAP(k={k}, divide_by_k=True)", "AP(denominator='k')@{k}", "AP@{k}", "rectools-achievable"),
    ("RR", "MRR(k={k})", "RR@{k}", "", "rectools"),
    ("nDCG", "NDCG(k={k})", "nDCG(gain='binary', ideal='full_k')@{k}", "nDCG@{k}", "rectools"),
    ("achievable nDCG", "NDCG(k={k}, divide_by_achievable=True)", "nDCG(gain='binary')@{k}", "nDCG@{k}", "rectools-achievable"),
    ("Success", "HitRate(k={k})", "Success@{k}", "", "rectools"),
    ("pAUC", "PartialAUC(k={k})", "pAUC@{k}", "", ""),
    ("pAP", "PAP(k={k})", "pAP@{k}", "", ""),
]  # fmt: skip
REPLAY = [
    ("P", "Precision({k})", "P@{k}", "", "replay"),
    ("R", "Recall({k})", "R@{k}", "", "replay"),
    ("AP", "MAP({k})", "AP(denominator='min_k_relevant')@{k}", "AP@{k}", "replay"),
    ("RR", "MRR({k})", "RR@{k}", "", "replay"),
    ("nDCG", "NDCG({k})", "nDCG(gain='binary')@{k}", "nDCG@{k}", "replay"),
    ("Success", "HitRate({k})", "Success@{k}", "", "replay"),
]


def tools() -> list[Tool]:
    """Both."""
    made = []
    for name, package, rows, ties, about in (
        ("RecTools", "rectools", RECTOOLS, "input", "`rectools.metrics`, given ranks: equal scores stay in the order of the input."),
        ("RePlay", "replay-rec", REPLAY, "trec", "`replay.metrics`."),
    ):  # fmt: skip
        policy = {} if ties == "trec" else {"ties": ties}
        pairs = [
            Pair(
                call.format(k=k),
                ours.format(k=k),
                partial(_theirs, name.casefold(), f"{key}@{k}"),
                plain.format(k=k),
                policy,
                dialect,
                shown=k == 3 or key in {"nDCG", "AP"},
            )
            for key, call, ours, plain, dialect in rows
            for k in AT
        ]
        more = (
            " It averages the users who like something. The second input is six users with lists of five: one was shown "
            "nothing, one liked nothing."
        )
        made.append(Tool(name, package, about + more, (demo(), SIX), pairs, at=version(package)))
    return made
