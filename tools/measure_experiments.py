"""Write the section on experiments of docs/calibration.md: how often their tests err, and how often their intervals hold the truth.

python tools/measure_experiments.py                    all parts, printed
python tools/measure_experiments.py --write            and written into the page (half an hour on two cores)
python tools/measure_experiments.py looks --write      that part alone; the others stay
python tools/measure_experiments.py power --quick      few experiments: to look at the page, not at the numbers
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping

import experiments_cells as cells
import experiments_logs as logs
from calibrate import BEGINS, ENDS, PAGE, experiments_of, table
from experiments_cells import QUICK, Size
from experiments_worlds import PEOPLE
from rankscope.inference.effects import split_p_value

HEAD = f"""\
{BEGINS}

How often what `rankscope experiment` says of variants is right. This section is written by `python tools/measure_experiments.py --write`.
Users of whole logs come from `rankscope simulate`; all others are drawn with replacement from made-up populations of {PEOPLE:,} users, whose true
values are known (`tools/experiments_worlds.py`): users who convert or do not; revenue, which one user in ten brings, with a log-normal amount
(skewness 16); and clicks out of impressions, where some users see a hundred times what others do (design effects of 5.8 to 6.8). Numbers are percentages;
± is a standard error. `tests/inference/test_experiments_calibration.py` holds the simulation against `rankscope.experiment`, table by table.
"""


def coverage(size: Size) -> Iterator[str]:
    """Intervals of differences and lifts."""
    yield (
        f"How many of the 95% intervals hold the truth: where there is no difference, and where there is a lift of 20%. {size.tries:,} experiments a cell, {size.tries // 3:,} "
        "of 10,000 users: of 95.0 the standard error is 0.4, or 0.7. An interval of a lift needs a baseline clear of 0; only those that are given are counted. "
        "*Warned*: in how many experiments without a difference RS640 says that users are too few for how skewed the metric is.\n"
    )
    heads = ("metric", "users a variant", "difference", "with a covariate", "lift", "with a covariate", "warned")
    yield table(heads, list(cells.coverage(size)))


def adjustments(size: Size) -> Iterator[str]:
    """Covariates, strata, winsorising."""
    yield (
        f"How often the default test finds a difference at 5% where there is none ({size.tries:,} experiments a cell; of 5.0 the standard error is 0.4): plain, with a covariate, with strata that say nothing "
        "(2, 5 and 20 of them), and with what users add cut at the 99% and the 95% quantile:\n"
    )
    heads = (
        "metric",
        "users a variant",
        "plain",
        "covariate",
        "2 strata",
        "5 strata",
        "20 strata",
        "cut at 99%",
        "at 95%",
    )
    yield table(heads, list(cells.adjustments(size)))


def looks(size: Size) -> Iterator[str]:
    """Looking at any time."""
    yield (
        f"How often no difference is refuted at any of 1,000 looks, after each further user of the smaller variant from 100 to 1,099 ({size.looked:,} experiments a cell, {size.looked // 2:,} of the uneven split). "
        "Where a small variant has not met any of the rare large values, its mean and its own error are both too small, which a test of looks meets at some look: `anytime` goes by the "
        "larger of the usual error and the one with all users' spread. The second column is without that.\n"
    )
    heads = ("metric", "split", "`anytime(first=200)`", "by the usual error", "t at every look", "t at the last")
    yield table(heads, list(cells.anytime_errors(size)))


def plans(size: Size) -> Iterator[str]:
    """Planned looks."""
    yield (
        f"How often no difference is refuted at any planned look, of 1,000 users a variant in the end ({size.planned:,} experiments a cell). Looks that are not at equal numbers "
        "are told as `shares`:\n"
    )
    heads = ("metric", "looks", "`obrien_fleming`", "`pocock`", "t at every look")
    yield table(heads, list(cells.planned_errors(size)))


def split(size: Size) -> Iterator[str]:
    """The sample ratio."""
    yield (
        "How often a split that went as planned is called a mismatch (p < 0.001, so 0.1 is the aim; the verdict is withheld then). Of two variants it is counted out over all "
        "splits, so without standard error:\n"
    )
    yield table(("planned split", "200 users", "1,000", "10,000", "100,000"), list(cells.split_alarms(split_p_value)))


def power(size: Size) -> Iterator[str]:
    """Planned sizes."""
    yield (
        f"How many users `rankscope power --lift` asks for, to find a lift with 80% power, and how often experiments of that size find it ({size.power:,} each). "
        "The plan lets what users differ by grow with the lift, so it asks for a little too many where each user does the same more:\n"
    )
    yield table(("metric", "lift", "test", "users", "found"), list(cells.power(size)))


PARTS: Mapping[str, tuple[str, Callable[[Size], Iterator[str]]]] = {
    "logs": ("Users and rows", logs.text),
    "coverage": ("Intervals of differences and lifts", coverage),
    "adjustments": ("Covariates, strata and winsorising", adjustments),
    "looks": ("Looks at any time", looks),
    "plans": ("Planned looks", plans),
    "split": ("The split", split),
    "power": ("Planned sizes", power),
}


def section(size: Size, names: list[str], page: str) -> str:
    """The whole section, with these parts measured anew and the others as they stand in the page."""
    texts = [HEAD]
    for name, (title, made) in PARTS.items():
        start = time.perf_counter()
        if name in names:
            texts.append(f"### {title}\n\n" + "\n".join(made(size)))
            print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
        elif f"### {title}\n" in page:
            texts.append(f"### {title}\n" + page.partition(f"### {title}\n")[2].split("\n##")[0].rstrip("\n") + "\n")
    return "\n".join(texts) + "\n"


def main() -> None:
    """Measure, print, and write where that is wanted."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("parts", nargs="*", help=f"all unless named: {', '.join(PARTS)}")
    options.add_argument("--write", action="store_true", help="into docs/calibration.md")
    options.add_argument("--quick", action="store_true", help="few experiments, printed and not written")
    said = options.parse_args()
    unknown = [name for name in said.parts if name not in PARTS]
    if unknown:
        sys.exit(f"no part is called {unknown[0]}: there are {', '.join(PARTS)}")
    page = PAGE.read_text(encoding="utf-8")
    text = section(QUICK if said.quick else Size(), said.parts or list(PARTS), page)
    print(text)
    if said.write and not said.quick:
        page = PAGE.read_text(encoding="utf-8")  # which may have changed meanwhile
        before, _, after = page.replace(experiments_of(page), "").partition(ENDS)
        PAGE.write_text(f"{before}{text}{ENDS}{after}", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
