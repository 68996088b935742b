"""No sentence contradicts a number beside it, in random comparisons and experiments: sentences are read as a person reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.made.samples import amount

import rankscope as rs
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import Margin, method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure

NUMBER = r"([+−]?[\d,]*\.?\d+)"
VERDICT_OF = {
    " beats ": "better", " loses to ": "worse", " practically the same on ": "equivalent", " is not worse than ": "not worse",
    " score the same ": "same", " is withheld": "withheld", " is higher than ": "different", " is lower than ": "different",
    "No clear difference between ": "cannot tell",
}  # fmt: skip
CLEAR = {"better", "worse", "different"}


def number(text: str) -> float:
    return float(text.replace("−", "-").replace("+", "").replace(",", ""))


def found_in(pattern: str, text: str) -> tuple[float, ...] | None:
    """The numbers in a text after a pattern, whose NUMBERs they are; None if it does not say so."""
    found = re.search(pattern.replace("NUMBER", NUMBER), text)
    return None if found is None else tuple(map(number, found.groups()))


def step_of(text: str) -> float:
    """By how much the numbers of a sentence may be rounded: one of the last place of its first interval, or size."""
    found = re.search(rf"{NUMBER} to {NUMBER}", text) or re.search(NUMBER, text)
    shown = found.group(1) if found else ""
    return 10.0 ** -len(shown.partition(".")[2])


def contradictions(said: str, c: Contrast) -> Iterator[str]:
    """Yield what a sentence on a contrast says that its row, or another part of the sentence, denies."""
    verdict = next(name for words, name in VERDICT_OF.items() if words in said)
    if verdict != c.verdict:
        yield f"says {verdict}, the row {c.verdict}"
    first = said.partition(". Lift")[0].partition(" Nor can")[0]
    step, clear = step_of(first), verdict in CLEAR
    ends = found_in(r"% (?:\w+ )?interval NUMBER to NUMBER", first)
    size = found_in(r" by NUMBER \(" if clear else r" \(NUMBER, ", first)
    if ends is not None and (clear or verdict == "cannot tell"):
        if clear == (ends[0] <= 0 <= ends[1]):
            yield "interval and verdict"
        if size is not None and not ends[0] - step <= size[0] <= ends[1] + step:
            yield "the difference is outside its interval"
        if (about := found_in("can detect about NUMBER", first)) and about[0] < (ends[1] - ends[0]) / 2 - step:
            yield "detects less than half the interval"
    if clear and size is not None and size[0] == 0:
        yield "a clear difference of 0"
    p_value = found_in(r"p [=<] NUMBER", first)
    other_way = "most differences go the other way" in first or "which so few do not support" in first
    if (
        p_value
        and verdict in CLEAR | {"cannot tell"}
        and (p_value[0] > 0.05 if clear or other_way else p_value[0] < 0.05)
    ):
        yield f"p and verdict: {p_value[0]}"
    lift = found_in(r"Lift NUMBER% \(NUMBER% to NUMBER%\)", said)
    if lift is not None:
        if clear == (lift[1] <= 0 <= lift[2]):
            yield "lift and verdict"
        if not lift[1] - 0.1 <= lift[0] <= lift[2] + 0.1:
            yield "the lift is outside its interval"
        if clear and (lift[0] > 0) != (c.difference > 0):
            yield "lift and difference point apart"
    yield from about_margin(said, c)


def about_margin(said: str, c: Contrast) -> Iterator[str]:
    """Yield what contradicts itself about a margin."""
    number = r"interval NUMBER to NUMBER, {} ±(?:[\d.]+% of the baseline \()?NUMBER"
    share = r"interval of the lift NUMBER% to NUMBER%, {} ±NUMBER% of the baseline"
    for form in (number, share):
        inside, beyond = (found_in(form.format(place), said) for place in ("within", "reaches beyond"))
        if inside is not None and max(-inside[0], inside[1]) > inside[2] * (1 + 1e-3) + 1e-12:
            yield "within the margin"
        if beyond is not None and max(-beyond[0], beyond[1]) < beyond[2] * (1 - 1e-3) - 1e-12:
            yield "beyond the margin"
    for words, holds in (("is smaller than the accepted", True), ("cannot be ruled out", False)):
        if words not in said:
            continue
        own = said.partition(words)[2]
        p_value, level = found_in(r"\(p [=<] NUMBER", own), found_in(r"(?:above|below) NUMBER for", own) or (0.05,)
        if p_value is not None and (p_value[0] > level[0] if holds else p_value[0] < level[0] - 5e-4):
            yield f"{words} at {p_value[0]}"


def one_of(rng: np.random.Generator, values: list[Any]) -> Any:
    return values[int(rng.integers(len(values)))]


def comparison(seed: int) -> list[tuple[str, Contrast]]:
    """The sentences of a random comparison of runs, with their contrasts."""
    rng = np.random.default_rng(seed)
    systems, queries = int(rng.integers(2, 6)), int(rng.integers(3, 60))
    noise = rng.choice([0.02, 0.2]) * rng.standard_t(rng.choice([2, 30]), (systems, queries))
    values = np.clip(rng.random(queries) + rng.normal(0, 0.1, (systems, 1)) + noise * (rng.random((systems, queries)) < rng.choice([0.2, 1])), 0, 1)  # fmt: skip
    if rng.random() < 0.3:
        values = np.round(values * 2) / 2
    names = tuple(f"s{i}" for i in range(systems))
    better = str(rng.choice(["higher", "higher", "lower", "neither"]))
    measure = Measure("m", better, range=(0.0, 1.0), aggregate=str(rng.choice(["mean", "mean", "geometric"])))  # type: ignore[arg-type]
    weights = (
        np.tile(rng.lognormal(0, 0.7, queries), (systems, 1))
        if measure.aggregate == "mean" and rng.random() < 0.3
        else None
    )
    panel = Panel(measure, names, tuple(map(str, range(queries))), values, weights=weights)
    method = method_of(
        test=one_of(rng, [None, None, "sign", "wilcoxon", "permutation(rounds=999)", "bootstrap(rounds=999)"]),
        correction=str(rng.choice(["holm", "bonferroni", "bh", "none"])),
        margin=one_of(rng, [None, Margin(0.05), Margin(0.2), Margin(0.1, relative=True), Margin(0.5, relative=True)]),
    )
    found = Family([panel], pairs_of(names, "s0", all_pairs=False), method, "s0").contrasts
    return [(c.sentence(), c) for c in found]


def experiment(seed: int) -> tuple[rs.Experiment, list[tuple[str, Contrast]]]:
    """A random experiment, and its sentences on contrasts."""
    rng = np.random.default_rng([seed, 1])
    n, share = int(rng.choice([40, 200, 1000])), float(rng.choice([0.5, 0.5, 0.2]))
    given = rng.random(n) < share
    given[:4] = [True, True, False, False]
    lift = 1 + given * rng.choice([0, 0, 0.1, 0.5, -0.3])
    bought = (np.arange(n) < 6) | (rng.random(n) < np.minimum(rng.choice([0.05, 0.3]) * lift, 1))
    shown = 1 + rng.poisson(np.exp(rng.normal(1, 1, n)))
    table = pl.DataFrame({
        "user": np.arange(n), "variant": np.where(given, "B", "A"), "bought": bought, "revenue": bought * rng.lognormal(2, rng.choice([0.5, 1.5]), n),
        "minutes": rng.gamma(2, 2, n) * lift, "shown": shown, "clicked": rng.binomial(shown, np.clip(rng.beta(2, 6, n) * lift, 0, 1)),
        "home": rng.integers(0, n // 3 + 2, n) * 2 + given, "country": rng.choice(["de", "fr"], n),
    })  # fmt: skip
    every = [
        "Mean(bought)",
        "Mean(revenue)",
        "Mean(minutes)",
        "Ratio(clicked, shown)",
        "Mean(minutes, better='lower')",
        "Quantile(minutes, q=0.5)",
    ]
    primary, *others = (str(name) for name in rng.permutation(every)[: rng.integers(1, 4)])
    guard = str(
        rng.choice(
            ["Mean(shown, better='higher')", "Mean(clicked, better='higher')", "Ratio(minutes, shown, better='lower')"]
        )
    )
    quantiles = any(name.startswith("Quantile") for name in (primary, *others))
    limit = one_of(rng, [None, "5%", "50%"])
    found = rs.experiment(
        table, others or None, primary=primary, guardrails={guard: limit} if limit else guard, split={"A": 1 - share, "B": share},
        margin={primary: str(rng.choice(["3%", "30%"]))} if rng.random() < 0.5 else None, decide=bool(rng.random() < 0.5),
        test=one_of(rng, [None, None, None if quantiles else "permutation(rounds=999)", "anytime(first=100)", "group_sequential(look=2, looks=3)"]),
        clusters="home" if rng.random() < 0.3 else None, slices="country" if rng.random() < 0.3 else None,
        winsorise=0.98 if rng.random() < 0.2 and not quantiles else None,
    )  # fmt: skip
    told = []
    for said in found.sentences():
        on = [
            c
            for c in found.contrasts
            if f" on {c.metric} " in f"{said} " or f" on {c.metric}:" in said or f" on {c.metric}," in said
        ]
        if (
            on
            and any(words in said for words in VERDICT_OF)
            and not said.startswith(("Decision", "The difference", "The verdict"))
        ):
            told.append((said.removeprefix("Guardrail: "), max(on, key=lambda c: len(c.metric))))
    return found, told


def of_whole(found: rs.Experiment) -> Iterator[str]:
    """Yield what contradicts itself between sentences of one experiment."""
    said = " ".join(found.sentences())
    for decision in found.decisions if found.decide else ():
        beaten = f"{decision.variant} beats" in said
        if decision.ship and (not beaten or "cannot be ruled out" in said or "withheld" in said):
            yield "ships what is not better, or what may lose"
    if (mismatch := "Sample ratio mismatch" in said) == found.sample_ratio.holds:
        yield f"mismatch {mismatch}"
    if not found.validity.holds and (" beats " in said or " loses to " in said):
        yield "a verdict that is withheld"
    for told in found.sentences():
        if " depends on " in told and (p_value := found_in(r"p [=<] NUMBER", told)) and p_value[0] > 0.05:
            yield "slices"


def check(seeds: Iterator[int] | range, of: str) -> list[str]:
    """Return all contradictions in random comparisons or experiments, with their seeds."""
    out = []
    for seed in seeds:
        told: list[tuple[str, Contrast]]
        if of == "comparison":
            told = comparison(seed)
        else:
            whole, told = experiment(seed)
            out += [f"{seed}: {fault}" for fault in of_whole(whole)]
        out += [f"{seed}: {fault}: {said}" for said, c in told for fault in contradictions(said, c)]
    return out


@pytest.mark.parametrize(("of", "count"), [("comparison", amount(150, 1500)), ("experiment", amount(30, 150))])
def test_no_sentence_contradicts_a_number_beside_it(of: str, count: int) -> None:
    assert check(range(count), of) == []


def test_the_law_finds_sentences_that_contradict_themselves() -> None:
    values = np.stack([np.linspace(0, 0.5, 30), np.linspace(0.1, 0.7, 30)])
    panel = Panel(Measure("m", range=(0.0, 1.0)), ("s0", "s1"), tuple(map(str, range(30))), values)
    c = Family([panel], [("s1", "s0")], method_of(), "s0").contrasts[0]
    assert c.verdict == "better"
    assert list(contradictions(c.sentence(), c)) == []
    for pattern, other in (
        (r"interval .*? to", "interval −0.100 to"),
        (r"p [=<] [\d.]+", "p = 0.20"),
        ("beats", "loses to"),
    ):
        assert list(contradictions(re.sub(pattern, other, c.sentence()), c))
