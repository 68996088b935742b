"""Which run is which variant, where a comparison of rankings and an experiment are about the same change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rankscope import words
from rankscope.errors import InputError
from rankscope.inference.base import Bounds
from rankscope.panels.contrast import Contrast, contrast
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.experiment.result import Experiment

NAMED = "give runs the names of their variants, like {example} on the command line, or say variants={{'run': 'variant'}} to rs.agreement"


@dataclass(frozen=True)
class Pairing:
    """The run of each variant, the baseline first; ``remarks`` say what was taken for granted, and what is left out."""

    runs: Mapping[str, str]
    remarks: tuple[str, ...] = ()

    @property
    def baseline(self) -> str:
        """The variant that others are compared with."""
        return next(iter(self.runs))

    @property
    def candidates(self) -> list[str]:
        """The variants that may replace it."""
        return list(self.runs)[1:]

    def label(self, variant: str) -> str:
        """A variant with its run, where that has another name."""
        run = self.runs[variant]
        return variant if run == variant else f"{run} ({variant})"


def pair_variants(comparison: Comparison, experiment: Experiment, matches: Mapping[str, str] | None = None) -> Pairing:
    """Find the run of each variant: as ``matches`` (by run), by name, or, of two and two, by which is the baseline.

    Raises InputError where that cannot be known, and for names that there are not.
    """
    variants, systems = experiment.variants.names, comparison.systems
    runs = _runs_by_variant(matches or {}, variants, systems)
    runs |= {name: name for name in variants if name in systems and name not in runs and name not in runs.values()}
    remarks: list[str] = []
    if len(variants) == len(systems) == 2 and len(runs) < 2:
        rest = [name for name in (comparison.baseline, *systems) if name not in runs.values()]
        left = [name for name in variants if name not in runs]
        guessed = dict(zip(left, dict.fromkeys(rest), strict=True))
        runs |= guessed
        remarks.append(
            f"Taken for granted: {words.listing([f'{run} is {variant}' for variant, run in guessed.items()])}."
        )
    baseline = variants[0]
    if baseline not in runs or len(runs) < 2:
        example = " ".join(f"{variant}=RUN" for variant in variants[:3])
        raise InputError(
            f"cannot match runs to variants: the runs are {words.listing(systems)}, the variants {words.listing(variants)}; "
            + NAMED.format(example=example)
        )
    if alone := [name for name in variants if name not in runs]:
        remarks.append(f"No run is called {words.listing(alone, last='or')}: left out here.")
    return Pairing({name: runs[name] for name in variants if name in runs}, tuple(remarks))


def _runs_by_variant(matches: Mapping[str, str], variants: Sequence[str], systems: Sequence[str]) -> dict[str, str]:
    """The run of each variant as stated, by run."""
    out: dict[str, str] = {}
    for run, variant in matches.items():
        if run not in systems:
            raise InputError(f"variants: unknown run {run!r}{words.hint(str(run), systems)}")
        if variant not in variants:
            raise InputError(f"variants: no variant is called {variant!r}{words.hint(str(variant), variants)}")
        if variant in out:
            raise InputError(f"variants: {out[variant]} and {run} are both {variant}: name one")
        out[variant] = run
    return out


def contrasts_of(comparison: Comparison, run: str, baseline: str) -> dict[str, Contrast]:
    """The contrast of two runs on each metric, this way round. Raises InputError where they were not compared."""
    out = {}
    for c in comparison.contrasts:
        if (c.run, c.baseline) == (run, baseline):
            out[c.metric] = c
        elif (c.run, c.baseline) == (baseline, run):
            out[c.metric] = mirror(c)
    if not out:
        raise InputError(
            f"{run} was not compared with {baseline}: compare runs with baseline={baseline!r}, or all_pairs"
        )
    return out


def mirror(c: Contrast) -> Contrast:
    """A contrast with the two systems in each other's place, corrected as it was."""
    ends = c.adjusted
    return replace(
        contrast(c.panel, c.baseline, c.run, c.method, c.validity), p_value_adjusted=c.p_value_adjusted, comparisons=c.comparisons,
        significant=c.significant, corrected_level=c.corrected_level, adjusted=Bounds(-ends.upper, -ends.lower, ends.method, ends.reason),
    )  # fmt: skip
