"""How large a report is, how long it takes beside the evaluation alone, and how soon a browser shows it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import rankscope as rs
from benchmarks.data import make_dicts

LIMITS = {(0, 3): 1.2, (50, 3): 2.0, (5000, 3): 15.0, (1000, 5): None}  # queries and runs: megabytes


def _worlds(queries: int, runs: int, seed: int = 1) -> tuple[Any, dict[str, Any]]:
    """Judgments and runs that order the same hundred documents more or less well."""
    qrels, first = make_dicts(max(queries, 8), 100, 20, seed)
    draw = np.random.default_rng(seed)

    def noisy(strength: float) -> dict[str, dict[str, float]]:
        return {
            query: {
                doc: qrels[query].get(doc, 0) * strength + noise
                for doc, noise in zip(docs, draw.normal(0, 1, len(docs)).tolist(), strict=True)
            }
            for query, docs in first.items()
        }

    made = {f"system-{number}": noisy(0.2 + 0.1 * number) for number in range(runs)}
    if not queries:  # nothing differs
        made = dict.fromkeys(made, next(iter(made.values())))
    return qrels, made


def _opened(path: Path) -> float | None:
    """Seconds until a headless Chromium shows the page with its explorer; None where there is none."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        return None
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        taken = []
        for _ in range(3):
            page = browser.new_page()
            start = time.perf_counter()
            page.goto(path.as_uri(), wait_until="load")
            page.wait_for_selector("main h1, h1")
            taken.append(time.perf_counter() - start)
            page.close()
        browser.close()
    return median(taken)


def report(folder: Path, rounds: int, small: bool) -> None:
    """Sizes, seconds beyond ``compare``, and seconds until a browser shows the page."""
    print("\nreports (the runtime of the charts alone is 0.9 MB)")
    for (queries, runs), limit in LIMITS.items():
        if small and queries > 500:
            continue
        qrels, made = _worlds(queries, runs)
        beyond, size = zip(*(_made(qrels, made, folder / "report.html") for _ in range(rounds)), strict=True)
        shown = _opened(folder / "report.html")
        opens = "no browser here" if shown is None else f"opens in {shown:.2f} s"
        of = f" (limit {limit:g} MB)" if limit else ""
        name = f"{queries:,} queries x {runs} runs" if queries else f"nothing differs, {runs} runs"
        print(f"  {name:<28} {size[0] / 1e6:6.2f} MB{of}, {median(beyond):5.2f} s beyond compare, {opens}")


def _made(qrels: Mapping[str, Any], runs: Mapping[str, Any], path: Path) -> tuple[float, int]:
    """Seconds beyond those of the comparison, and the bytes of the page."""
    start = time.perf_counter()
    rs.compare(qrels, runs)
    middle = time.perf_counter()
    rs.report(qrels, runs).save(path)
    return (time.perf_counter() - middle) - (middle - start), path.stat().st_size
