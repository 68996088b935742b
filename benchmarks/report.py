"""How long a report takes beside the comparison alone, how large it is, and how soon a browser shows it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.data import make_dicts
from benchmarks.measure import Answer, Call, Trial
from benchmarks.scope import Scope

LIMITS = {(0, 3): 1.2, (50, 3): 2.0, (5000, 3): 15.0, (1000, 5): None}  # queries and runs: megabytes
Work = Callable[[], Answer | None]


def trials(scope: Scope) -> Iterator[Trial]:
    """Few queries and many, and runs that do not differ."""
    for (queries, runs), limit in LIMITS.items():
        if scope.small and queries > 500:
            continue
        arguments = {"queries": queries, "runs": runs}
        what = f"{queries:,} queries × {runs} runs" if queries else f"nothing differs, {runs} runs"
        yield Trial(
            f"report/{queries}x{runs}",
            f"a report: {what}" + (f" (at most {limit:g} MB)" if limit else ""),
            max(queries, 8) * runs,
            "rankings",
            {
                "rankscope, compare": Call("benchmarks.report:compare", arguments),
                "rankscope, report": Call("benchmarks.report:page", arguments),
            },
        )


def worlds(queries: int, runs: int, seed: int = 1) -> tuple[Any, dict[str, Any]]:
    """Judgments and runs that order the same hundred documents more or less well."""
    import numpy as np

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


def compare(queries: int, runs: int) -> Work:
    """The comparison alone."""
    import rankscope as rs

    qrels, made = worlds(queries, runs)

    def work() -> None:
        rs.compare(qrels, made)

    return work


def page(queries: int, runs: int) -> Work:
    """The comparison and its page, as a file; a browser opens it once, before the rounds that count."""
    import rankscope as rs

    qrels, made = worlds(queries, runs)
    facts: Answer = {}

    def work() -> Answer:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.html"
            rs.report(qrels, made).save(path)
            if not facts:
                shown = _opened(path)
                facts.update({"megabytes": path.stat().st_size / 1e6} | ({} if shown is None else {"opens": shown}))
        return facts

    return work


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
            opened = browser.new_page()
            start = time.perf_counter()
            opened.goto(path.as_uri(), wait_until="load")
            opened.wait_for_selector("main h1, h1")
            taken.append(time.perf_counter() - start)
            opened.close()
        browser.close()
    return median(taken)
