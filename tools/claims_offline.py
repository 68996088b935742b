"""Claims about runs on queries: what ``compare``, ``gate`` and ``report`` say of systems whose truth is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from claims import Claim
from rankscope.lists import Array
from rankscope.panels.contrast import Contrast, contrast
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import Margin, method_of
from rankscope.panels.panel import Panel
from rankscope.panels.pooled import PooledPairs
from rankscope.panels.samples import Measure
from rankscope.verbs.gate.checks import draft_check, settle_checks

METHOD = method_of()
Trial = Callable[[np.random.Generator], bool | None]


def panel_of(values: Array, aggregate: str = "mean", **more: Any) -> Panel:
    """Values of systems, systems x queries, as a panel of a measure from 0 to 1."""
    systems, queries = values.shape
    names = tuple(f"s{i:02}" for i in range(systems)), tuple(f"q{i}" for i in range(queries))
    return Panel(Measure("m", range=(0.0, 1.0), aggregate=aggregate), *names, values, **more)


def scores(rng: np.random.Generator, systems: int, queries: int, shift: Array | float = 0.0) -> Array:
    """Values between 0 and 1, of hard and easy queries; systems are exchangeable but for their ``shift`` of a logit."""
    hard = rng.normal(-0.5, 1.2, queries)
    own = rng.normal(0, 0.8, (systems, queries))
    logits = hard + own + np.broadcast_to(np.reshape(shift, (-1, 1)), (systems, 1))
    return np.asarray(1 / (1 + np.exp(-logits)))


def of_two(panel: Panel) -> Contrast:
    """The second system against the first."""
    return contrast(panel, panel.systems[1], panel.systems[0], METHOD)


# --- weights, geometric means, pooled metrics ---------------------------------------------------


def weighted(n: int, rng: np.random.Generator) -> bool:
    """A false difference of two equal systems whose queries have log-normal weights."""
    values = scores(rng, 2, n)
    weights = np.tile(rng.lognormal(0, 1, n), (2, 1))
    return of_two(panel_of(values, weights=weights)).p_value <= METHOD.alpha


def geometric(n: int, rng: np.random.Generator) -> bool:
    """A false difference of two geometric means."""
    values = np.exp(np.minimum(rng.normal(-2, 1, n) + rng.normal(0, 1, (2, n)), 0))
    return of_two(panel_of(values, "geometric")).p_value <= METHOD.alpha


def pools(rng: np.random.Generator, n: int) -> list[PooledPairs]:
    """The documents of two equal systems: ten a query, three of them relevant, scores better by one deviation."""
    unit, relevant = np.repeat(np.arange(n), 10), np.tile(np.arange(10) < 3, n)
    out = []
    for _ in range(2):
        score = rng.normal(0, 1, 10 * n) + relevant * (1 + rng.normal(0, 0.7, n)[unit]) + rng.normal(0, 0.5, n)[unit]
        out.append(PooledPairs(n, unit, score, relevant))
    return out


def pooled(n: int, of: str, rng: np.random.Generator) -> bool:
    """Whether the interval of a pooled AUC, or of a difference of two, holds the truth."""
    both = pools(rng, n)
    parts = np.stack([one.parts() for one in both])
    panel = panel_of(parts, "pooled", pools=tuple(both))
    if of == "difference":
        bounds = of_two(panel).bounds
        return bounds.lower <= 0 <= bounds.upper
    spread = math.sqrt(2 + 2 * 0.5**2 + 0.7**2)  # of a relevant score less another one, of different queries
    truth = math.erfc(-1 / spread / math.sqrt(2)) / 2
    bounds = panel.interval("s00")
    return bounds.lower <= truth <= bounds.upper


# --- the gate -------------------------------------------------------------------------------------


def gated(n: int, changed: bool, rng: np.random.Generator) -> bool | None:
    """Whether a candidate passes that loses the tolerance: 8% of queries lose up to 0.25. ``changed``: in worlds where some query here did."""
    before = 0.3 + 0.6 * rng.random(n)
    moved = rng.random(n) < 0.08
    while changed and not moved.any():
        moved = rng.random(n) < 0.08
    panel = panel_of(np.stack([before, before - 0.25 * rng.random(n) * moved]))
    drafts = [draft_check(of_two(panel), Margin(0.01), "loss")]
    return settle_checks(drafts, "loss", METHOD)[0].status == "pass"


# --- several systems ------------------------------------------------------------------------------


def first(systems: int, queries: int, lead: float, rng: np.random.Generator) -> bool:
    """Whether the runs that are tied for first hold the best one."""
    panel = panel_of(scores(rng, systems, queries, np.array([lead] + [0.0] * (systems - 1))))
    family = Family([panel], pairs_of(panel.systems, "s01", all_pairs=False), METHOD, "s01")
    return "s00" in family.groups[0].systems


def against_the_best(systems: int, rng: np.random.Generator) -> bool:
    """A false verdict in a report of equal runs, which are compared with the best of them."""
    panel = panel_of(scores(rng, systems, 50))
    best = next(iter(panel.means))
    more: dict[str, Any] = {"looked": True} if "looked" in {field.name for field in fields(Family)} else {}
    family = Family([panel], pairs_of(panel.systems, best, all_pairs=False), METHOD, best, **more)
    return any(c.significant for c in family.contrasts)


def detected(comparisons: int, rng: np.random.Generator) -> bool:
    """Whether new queries show the difference that a sentence says as many can detect, under the correction of the comparisons."""

    def differences() -> Array:
        return rng.standard_t(6, (comparisons, 50)) * 0.1

    def family(values: Array) -> Family:
        measure = Measure("m", range=(-100.0, 100.0))
        names = tuple(f"s{i:02}" for i in range(comparisons + 1)), tuple(f"q{i}" for i in range(50))
        panel = Panel(measure, *names, np.vstack([np.zeros(50), values]))
        return Family([panel], pairs_of(panel.systems, "s00", all_pairs=False), METHOD, "s00")

    about = family(differences()).contrasts[0].detectable.difference
    later = differences()
    later[0] += about
    return family(later).contrasts[0].verdict == "better"


def _claims() -> Iterator[Claim]:
    audit = {10: "9.1", 20: "8.3", 50: "7.6"}
    for n in (10, 20, 50):
        trial = partial(weighted, n)
        yield Claim("weights of queries: false difference", f"n = {n}", "5", 0, 5.7, trial, audit=audit[n])
    for n in (10, 20, 50):
        yield Claim("GMAP: false difference", f"n = {n}", "5", 0, 5.7, partial(geometric, n))
    for n in (10, 20, 50):
        for of in ("difference", "value"):
            row = f"pooled AUC: interval of a {of} holds it"
            yield Claim(row, f"n = {n}", "95", 93.5, 98, partial(pooled, n, of), 2000)
    for n in (10, 25, 50):
        row = "gate: passes a loss of the tolerance"
        yield Claim(f"{row}, 8% of queries change", f"n = {n}, some did", "2.5", 0, 5.7, partial(gated, n, True), 2000)
    for systems, lead in ((5, 0.0), (10, 0.0), (10, 0.3), (30, 0.0)):
        cell = f"{systems} runs, {'all equal' if not lead else 'one is better'}, n = 50"
        trial = partial(first, systems, 50, lead)
        yield Claim(
            "tied for first: holds the best",
            cell,
            "95",
            94,
            100,
            trial,
            500 if systems > 20 else 1000,
            few=20 if systems > 20 else 100,
        )
    for systems in (4, 8, 24):
        row, cell = "report against the best run: any false difference", f"{systems} equal runs, n = 50"
        yield Claim(row, cell, "5", 0, 5.7, partial(against_the_best, systems), 1000)
    for comparisons in (1, 3, 10, 15):
        row, cell = "n queries can detect about x: found", f"{comparisons} comparisons, n = 50"
        yield Claim(row, cell, "80", 77, 83, partial(detected, comparisons), 6000)


CLAIMS = list(_claims())
