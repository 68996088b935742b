"""Write docs/calibration.md: how often the intervals, tests and corrections are right on samples of real scores.

Run without arguments, which takes some minutes on two cores. ``--quick`` prints a rough page in seconds and writes nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import calibrate_cells as cells
import calibrate_families as families
import calibrate_looks as looks
from calibrate_scores import FOLDER, METRICS, QUICK, SEED, SYSTEMS, Population, Size, population

PAGE = Path(__file__).resolve().parents[1] / "docs" / "calibration.md"
Row = tuple[str, ...]
BEGINS, ENDS = (
    "## Experiments",
    "## What follows",
)  # the section that tools/measure_experiments.py writes, and what comes after it

HEAD = """\
# Calibration

How often the intervals, tests and corrections of rankscope are right, measured on real scores. This page is
written by one command, which takes five to ten minutes on two cores, but for its section on experiments:

    python tools/calibrate.py

It reads the scores in `../shared/data`, a folder of real collections next to the checkout; tests that use it are
skipped where it is not there.

**Population.** The score matrices of TREC ad hoc 5 to 8 (julian-urbano/sigir2019-statistical): AP, P@10 and
RR of 61, 74, 103 and 129 systems on 50 topics each. In each matrix systems are ordered by mean AP, the worst quarter
is dropped, and {systems} systems at equal distances of rank are kept; the four are then stacked, rank by rank, to
{systems} systems on 200 topics. A sample of n queries is n topics drawn with replacement, the same for all systems;
the truth is the mean over the 200 topics.

**Numbers.** All rates are percentages, each with its own standard error (±): between pairs of systems where a cell
averages over pairs, otherwise that of a share. Single comparisons: {pairs} pairs (or systems) x {samples:,} samples for intervals,
{tested} pairs x {tries:,} samples for tests, {looks:,} for looks. Families: {families:,} data sets of 10 systems drawn at
random, all 45 pairs. Random draws: {rounds:,} rounds, with fresh draws for every pair or every 100 families; Holm on sign-flip {rounds_of_families:,}. The seed
is {seed}; every cell has random numbers of its own. Simulations are vectorised; `tests/inference/test_calibration.py` holds
them against the library, sample by sample.
"""

FOLLOWS = """\
## What follows

- **The t interval and the t test are the defaults** for differences: right from 20 queries, without random draws, and
  dual to each other, so that an interval never contradicts its p-value.
- **The percentile, BCa and studentised intervals of a difference are too narrow** below 200 queries, and the shifted
  bootstrap test rejects too often at 50. They are there for comparison with papers that used them.
- **A mean is not as easy as a difference**: t covers a mean of AP less often than it says at 20 queries, and at 50 misses more often
  on one side than on the other. For one side of a mean BCa is the more even one. The studentised interval covers
  too often at few queries.
- **Sign flips** are the companion of t, with the same rates and the same power. Where 4 to 7 queries differ, every test
  rejects less often than it says.
- **Wilcoxon and sign ask another question** (symmetry, the median): they keep 5% where labels are swapped, and not where
  only the mean is 0.
- **Shares near 0 or 1 need Wilson.** At .98 and 50 queries t often sees no failure at all, and then has no interval.
- **Clusters must be said.** Ignoring them, four to six of ten intervals miss. t between clusters, its error and its degrees of
  freedom corrected for clusters of unequal size or weight (CR2 and Satterthwaite), stays near 95 from 6 clusters on.
- **Holm on t is the default for a family.** It keeps the family-wise error in every row, and errs rarely among near variants.
  `max_t` stays near 5% there too, so it gives less away; where scores are skewed it errs too often, most at 25 queries,
  as Holm on sign-flip does. Tukey's range, randomised or not, supposes that all systems vary alike, and errs
  where they do not.
- **Who looks more than once needs `anytime` or `betting`.** A repeated t test refutes the truth in about four of ten cases.
  `anytime` intervals are about one and a half times as wide as t's; `betting` is 2 to 4 times as wide up to 100 queries.
  Where large losses are rare, `anytime` errs more often than it says before some 100 queries; `betting` does not.
- **The gate** passes a candidate at the tolerance about as often as its interval says with one metric, and far less often where
  several are at the tolerance, as all must pass.
- **Experiments are tested by user.** A test of rows finds a difference in a quarter of those without any. 94 to 97 of 100 intervals of
  a difference hold the truth from 100 users a variant on, whatever the metric, and 94 to 96 those of ratios from 300. Intervals of the lift of
  what is rare hold it less often at first, 88 of 100 times at worst, if only those with ends are counted.
- **Looks at an experiment need a test for looks.** t at every look refutes no difference in a quarter to a half of experiments. `anytime` keeps 5%
  from 100 users a variant on, also in uneven splits, where the usual error alone would not; `group_sequential` spends what was planned, at looks
  at equal numbers or at others. At uneven splits of what is rare, random deals of users take the place of t.
"""


def table(header: Row, rows: list[Row]) -> str:
    """A Markdown table."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def range_of(rows: list[Row], name: str, column: int = 0) -> str:
    """The lowest and the highest rate of the rows of one name, in words."""
    rates = [float(cell.split(" ")[0]) for row in rows if row[column] == name for cell in row[-3:]]
    return f"{min(rates)} to {max(rates)}"


def sections(scores: Population, size: Size) -> Iterator[str]:
    """The tables of the page, one after the other."""
    metrics = tuple(METRICS)

    def made(cell: Callable[..., Iterator[Row]], *more: str) -> list[Row]:
        start = time.perf_counter()
        rows = list(cell(scores, size, *more))
        print(f"{cell.__name__} {' '.join(more)}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
        return rows

    yield "## Coverage of 95% intervals\n\nOf the difference of two systems:\n"
    rows = made(cells.coverage, "difference")
    yield table(("interval", "n", *metrics), rows)
    yield f"The t interval of a difference covers {range_of(rows, 't')} over these cells.\n\nOf the mean of one system:\n"
    yield table(("interval", "n", *metrics), made(cells.coverage, "mean"))
    yield "On which side intervals of a mean miss at 50 queries (2.5 on each would be even):\n"
    yield table(("side", "interval", *metrics), made(cells.tails))
    yield (
        "Of a share of successes at 50 queries, counted out over all numbers of successes with the library itself, so without "
        "standard error; where there is no interval it does not cover:\n"
    )
    yield table(("interval", "true share .98", ".9", ".5"), list(cells.shares()))
    yield (
        "Of a difference where queries come in clusters, of 10 queries each or of unequal size (log-normal, 10 on average, deviation 1 "
        "of the logarithm; half of each value is the cluster's), or with weights as well (log-normal, deviation 1, half of its square between "
        "clusters and half within):\n"
    )
    yield table(("interval", "clusters", "sizes", *metrics), made(cells.clustered))
    yield (
        "## Rejections at 5% without a difference\n\nRecentred: the true mean is subtracted, which keeps skewness and destroys zeros. "
        "Swapped: which system is which is decided anew for every query. Tilted: topics are drawn with such chances "
        "that the mean is 0. Each would be 5.\n"
    )
    yield table(("differences", "n", "test", *metrics), made(cells.rejections))
    yield (
        "How often they reject where two systems do differ (their differences as they are; a test that rejects too often above gains "
        "nothing by more here):\n"
    )
    yield table(("n", "test", *metrics), made(cells.power))
    yield (
        "## Family-wise error at 5%\n\nHow often at least one of 45 pairs is called different where none does. Turned: the sign of all differences is decided anew for every query. Near variants differ from their base "
        "in a tenth of the queries.\n"
    )
    yield table(("systems", "n", "correction", *metrics), made(families.family_wise))
    yield (
        "## Looking more than once\n\nHow often the truth is refuted at any look, looking after every query up to 1,000 (recentred "
        "differences; `betting` with bounds -1 and 1):\n"
    )
    yield table(("what is looked at", *metrics), made(looks.looks))
    yield (
        "How often a true mean of 0 is refuted where differences are skewed, most of them small gains and few large losses, by `anytime` "
        "looking from so many queries on, and by `betting` from the first:\n"
    )
    yield table(("differences", "from 20", "50", "100", "200", "`betting`"), made(looks.skewed))
    yield "How many times as wide as t (AP; `anytime` by its formula):\n"
    yield table(("n", "anytime", "betting"), made(looks.widths))
    yield (
        "## The gate\n\nHow often a candidate passes whose true loss is just the tolerance. The rule: every metric's 95% t interval of the "
        "difference has its lower end above minus the tolerance, so that 2.5 is the aim for one metric. The five are AP, P@10, RR and two means of them.\n"
    )
    yield table(("at the tolerance", "n", "passes"), made(looks.gate))


def head(size: Size) -> str:
    """How the numbers were made."""
    return HEAD.format(systems=SYSTEMS, seed=SEED, **vars(size))


def experiments_of(page: str) -> str:
    """The section on experiments as it stands in a page; empty where there is none."""
    return BEGINS + page.partition(BEGINS)[2].partition(ENDS)[0] if BEGINS in page else ""


def page(scores: Population, size: Size, experiments: str) -> str:
    """The whole page."""
    return "\n".join([head(size), *sections(scores, size), experiments + FOLLOWS])


def main() -> None:
    """Write the page, or print a quick one."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument(
        "--data", type=Path, default=FOLDER, help="the folder of the score matrices, adhoc5_ap.csv and so on"
    )
    asked.add_argument("--quick", action="store_true", help="few samples, printed and not written")
    said = asked.parse_args()
    if not (said.data / "adhoc5_ap.csv").exists():
        sys.exit("the score matrices are not here: say --data FOLDER, where adhoc5_ap.csv and the others lie")
    experiments = experiments_of(PAGE.read_text(encoding="utf-8"))
    text = page(population(said.data), QUICK if said.quick else Size(), experiments)
    if said.quick:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
