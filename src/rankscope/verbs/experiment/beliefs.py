"""The Bayesian summary of an experiment, where it was asked for: columns, and a sentence that says what it rests on."""

from __future__ import annotations

import csv
import json
import math
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.inference.effects import LiftPosterior, Prior, posterior_of_lift
from rankscope.panels.contrast import Contrast
from rankscope.panels.contrast_result import lift_interval_in_words
from rankscope.show.result import Col

CAUTION = (
    "This probability depends on the prior, and stopping as soon as it is high gives wrong choices more often than stated. "
    "The verdict does not use it."
)


def believe(c: Contrast, prior: Prior) -> LiftPosterior:
    """What to believe of the lift of a contrast."""
    return posterior_of_lift(c.pair.run_sample, c.pair.baseline_sample, prior, c.method.level, c.panel.better)


def columns_of(prior: Prior) -> tuple[Col, ...]:
    """The columns of what is believed: chance, loss and credible interval."""
    each = partial(believe, prior=prior)
    return (
        Col("chance_better", of=lambda c: each(c).chance_better, head="chance better", kind="value",
            cell=lambda c: words.share(each(c).chance_better, 1)),
        Col("expected_loss", of=lambda c: each(c).expected_loss, head="expected loss", kind="value",
            cell=lambda c: words.share(each(c).expected_loss, 2)),
        Col("credible_lower", "credible_upper", of=lambda c: each(c).credible.ends, head="credible interval of lift", kind="value",
            cell=lambda c: words.in_table(lift_interval_in_words(each(c).credible))),
    )  # fmt: skip


def sentence(c: Contrast, prior: Prior) -> str:
    """What is believed of a contrast, given which prior."""
    belief = believe(c, prior)
    if not belief.credible.known:
        return f"No probability that {c.run} is better on {c.metric}: {belief.credible.reason}."
    assumed = "a flat prior" if str(prior) == "flat" else f"a prior of lifts around 0 ({prior})"
    how = "better" if c.panel.sign else "higher"
    loss = (
        f"choosing it loses {words.share(belief.expected_loss, 2)} of {c.metric} on average; " if c.panel.sign else ""
    )
    return (
        f"Given {assumed}, {c.run} is {how} than {c.baseline} on {c.metric} with a probability of {words.share(belief.chance_better, 1)}; "
        f"{loss}the lift is {words.relative(math.expm1(belief.centre), belief.credible.ends)}, and {lift_interval_in_words(belief.credible)} with a probability of {words.percent(c.method.level)}."
    )


# --- a prior learnt from past experiments


def prior_of(source: Any) -> Prior:
    """Return the prior: flat, a standard deviation, or learnt from a file of past experiments. Raises InputError for anything else.

    The file is the JSON of ``experiment`` (one result per line, or a list), or a CSV with the columns ``effect`` (a lift, 0.02 for 2%) and
    ``standard_error``. The primary metric of each experiment counts.
    """
    if not isinstance(source, str | Path) or not Path(source).is_file():
        return Prior.of(source)
    path = Path(source)
    pairs = _of_json(path) if path.suffix.lower() in {".json", ".jsonl"} else _of_table(path)
    return Prior.learnt([effect for effect, _ in pairs], [error for _, error in pairs], path.name)


def _of_json(path: Path) -> list[tuple[float, float]]:
    """Return the logarithm of each ratio and its error, from the ends of the interval of the lift."""
    text = path.read_text(encoding="utf-8")
    try:
        try:
            results = json.loads(text)
        except json.JSONDecodeError:
            results = [json.loads(line) for line in text.splitlines() if line.strip()]
        out = []
        for result in results if isinstance(results, list) else [results]:
            reach = NormalDist().inv_cdf(1 - result["conventions"]["alpha"] / 2)
            for row in result["results"]:
                low, high = row["relative_ci_lower"], row["relative_ci_upper"]
                if row["role"] == "primary" and low is not None and high is not None and low > -1:
                    out.append((math.log1p(row["relative"]), (math.log1p(high) - math.log1p(low)) / 2 / reach))
    except (json.JSONDecodeError, KeyError, TypeError):
        raise InputError(f"prior {path}: not the JSON of rankscope experiment: write it with --format json") from None
    return out


def _of_table(path: Path) -> list[tuple[float, float]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return [(float(row["effect"]), float(row["standard_error"])) for row in csv.DictReader(stream)]
    except (KeyError, TypeError, ValueError):
        raise InputError(f"prior {path}: a CSV needs the columns effect and standard_error, with numbers") from None
