"""The tables of a comparison: the columns of a contrast, for programs and for people; runs, pairs, slices, effects."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from string import ascii_lowercase

import numpy as np

from rankscope import words
from rankscope.blocks import NumberText, Table, Value, ValueRange
from rankscope.inference.base import Bounds
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.contrast_result import WITH_MARGIN, columns_named, lift_interval_cell, number_cell, p_cell
from rankscope.panels.families import Family, SliceContrast
from rankscope.panels.panel import Panel
from rankscope.show.latex import PaperCell, PaperTable, check_digits
from rankscope.show.result import Col, table_of

ROOM = 30  # rows of tables that are read at one go
FEW = 3  # as many runs get sentences of their own; more are counted
MARKS = {"better": "*", "different": "*", "worse": "†"}
MAX_SIGN_FLIPS = 300  # comparisons with a sign-flip test, which takes long


CHANCES = ("better", "worse", "practically_equal")


def record_columns(family: Family) -> tuple[Col, ...]:
    """Return the columns of the contrasts of a family, with those that its method adds."""
    flips = len(family.contrasts) <= MAX_SIGN_FLIPS
    names = (
        "run", "baseline", "metric", "value", "baseline_value", "difference", "ci", "p_value", "p_value_adjusted",
        "ci_adjusted", "test", "correction", "comparisons",
    )  # fmt: skip
    chances = Col(
        *(f"chance_{name}" for name in CHANCES),
        of=lambda c: [c.chances and c.chances[n] for n in CHANCES],
        kind="value",
    )
    return (
        *columns_named(*names),
        Col("sign_flip_p_value", of=lambda c: c.sign_flip if flips else None, kind="value"),
        Col("wins", "losses", "ties", "queries", kind="count"), *columns_named("verdict"), Col("interval", of=lambda c: c.bounds.method),
        Col("relative_difference", of=lambda c: c.relative[0], kind="value"),
        *columns_named("relative_ci"),
        Col("standardised_effect", of=lambda c: c.effect, kind="value"),
        Col("probability_of_superiority", of=lambda c: c.superiority, kind="value"),
        Col("detectable_difference", "detectable_lower", "detectable_upper",
            of=lambda c: (c.detectable.difference, c.detectable.low, c.detectable.high), kind="value"),
        Col("queries_needed", kind="count"),
        Col("queries_that_carry_it", of=lambda c: c.favourable and c.favourable[0], kind="count"),
        Col("share_that_carries_it", of=lambda c: c.favourable and c.favourable[1], kind="value"),
        *columns_named("relative", "units"),
        *(columns_named(*WITH_MARGIN) if family.method.margin is not None else ()),
        *([chances] if family.method.bayes else ()),
    )  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A contrast as a table shows it: the cells of one, or the name and the value of a baseline, whose other cells are empty."""

    run: str
    value: float
    against: str = ""
    change: Value = ""
    interval: Value = ""
    p: Value = ""
    flip: Value = ""
    counts: tuple[int, ...] = ()
    contrast: Contrast | None = None
    slice: str = ""

    @classmethod
    def of(cls, c: Contrast, flip: float = math.nan, part: str = "", ahead: bool = False) -> Row:
        """The row of a contrast; with ``ahead`` the one that is ahead stands first."""
        turned = ahead and (c.difference < 0 if not c.panel.sign else not c.is_gain and bool(c.difference))
        sign, low, high = (-1, -c.shown.upper, -c.shown.lower) if turned else (1, c.shown.lower, c.shown.upper)
        difference = sign * c.difference
        change = f"{words.in_table(words.number(difference, sign=True))} {'*' if c.verdict in CLEAR else ' '}"
        ends = words.in_table(words.interval(low + 0.0, high + 0.0))
        return cls(
            c.baseline if turned else c.run, c.baseline_value if turned else c.value, c.run if turned else c.baseline,
            change if math.isnan(difference) else NumberText(change, difference),
            ValueRange(difference, low + 0.0, high + 0.0, ends) if c.shown.known else None, p_cell(c.p_value_adjusted),
            p_cell(flip), (c.losses, c.wins, c.ties) if turned else (c.wins, c.losses, c.ties), c, part,
        )  # fmt: skip


COLUMNS = {
    "slice": Col(head="slice", cell=lambda row: row.slice),
    "run": Col(head="run", cell=lambda row: row.run),
    "against": Col(head="against", cell=lambda row: row.against),
    "value": Col(head="value", cell=lambda row: row.value, kind="value"),
    "change": Col(head="change", cell=lambda row: row.change, kind="value"),
    "interval": Col(head="interval", cell=lambda row: row.interval, kind="value"),
    "p": Col(head="p", cell=lambda row: row.p, kind="value"),
    "flip p": Col(head="flip p", cell=lambda row: row.flip, kind="value"),
    "W/L/T": Col(head="W/L/T", cell=lambda row: "/".join(map(words.count, row.counts)), kind="value"),
    "better": Col(head="better", cell=lambda row: row.counts[0], kind="count"),
    "worse": Col(head="worse", cell=lambda row: row.counts[1], kind="count"),
    "same": Col(head="same", cell=lambda row: row.counts[2], kind="count"),
    "queries": Col(head="queries", cell=lambda row: row.contrast.queries, kind="count"),
    "detects": Col(head="detects", cell=lambda row: _detects(row.contrast), kind="value"),
}
COUNTS = {False: ("W/L/T",), True: ("better", "worse", "same")}  # of queries, in one column or in a column each
LEGEND = {
    "flip p": "flip p: sign-flip test",
    "W/L/T": "W/L/T: queries better, worse, same",
    "detects": "detects: the difference that these queries detect with 80% power",
}


def value_range(value: float, bounds: Bounds) -> ValueRange | None:
    """A value with its interval; None where an end is not known or without bound."""
    ends = (value, bounds.lower, bounds.upper)
    return ValueRange(*ends) if all(map(math.isfinite, ends)) else None


def _detects(c: Contrast | None) -> Value:
    if c is None or c.verdict in CLEAR or c.verdict == "same":
        return ""
    return number_cell(words.number(c.detectable.difference), c.detectable.difference)


def how(family: Family) -> str:
    """The test and the correction in words."""
    method, size = family.method, family.size
    names = {"t": "paired t test", "permutation": "sign-flip test"}
    ran = [names.get(c.test.partition("(seed")[0], c.test) for c in family.contrasts if c.differing]
    usual = str(method.test or "t")
    test = names.get(usual, usual) if len(set(ran)) != 1 else ran[0]
    if len(set(ran)) > 1:
        other = Counter(one for one in ran if one != test)
        test += f" ({', '.join(f'{one} for {count:,} of {len(ran):,}' for one, count in other.items())})"
    if size == 1:
        return test
    if not method.correction.corrects:
        return f"{test}, not corrected"
    each = "" if method.family == "all" or len(family.panels) == 1 else " per metric"
    corrected = f"{method.correction.name} over {size:,} comparisons{each}"
    return corrected if method.correction.joint else f"{test}, {corrected}"


def columns_of(family: Family, parted: bool = False) -> list[str]:
    """The printed columns of a contrast, as there is room. Few runs get the sign-flip test. ``parted`` gives each count of queries a column."""
    if family.baseline is None:
        last = [*COUNTS[parted]] if len(family.pairs) > ROOM else ["detects"]
        return ["run", "against", "change", "interval", "p", *last]
    method, few = family.method, len(family.pairs) <= FEW
    usual = (method.test is None or str(method.test) == "t") and not method.correction.joint
    last = [] if few or method.every_look else ["detects"]
    return ["run", "value", "change", "interval", "p", *(["flip p"] if usual and few else []), *COUNTS[parted], *last]


def contrast_table(family: Family, panel: Panel, every: bool) -> Table:
    """Runs (or if each is compared with each, pairs: ``every`` one or only the clear ones) as rows, the best first."""
    if family.baseline is None:
        return pair_table(family, panel, every or len(family.of(panel.name)) <= ROOM)
    contrasts, names = family.of(panel.name), columns_of(family)
    flips = np.full(len(contrasts), math.nan)
    if "flip p" in names:
        flips = family.method.correction.adjusted(np.array([c.sign_flip for c in contrasts]))
    rows = {c.run: Row.of(c, flip) for c, flip in zip(contrasts, flips.tolist(), strict=True)}
    by_merit = [rows[system] if system in rows else Row(system, mean) for system, mean in panel.means.items()]
    return _table(family, [COLUMNS[name] for name in names], by_merit)


def pair_table(family: Family, panel: Panel, every: bool, parted: bool = False) -> Table:
    """Pairs as rows, the one ahead first, the largest differences on top. If pairs are many, only clear ones, unless ``every``."""
    contrasts = sorted(family.of(panel.name), key=lambda c: -abs(c.difference))
    clear = [c for c in contrasts if c.verdict in CLEAR]
    shown = contrasts if every else clear[:ROOM]
    left = len(contrasts) - len(shown)
    note = f"{left:,} more pairs, {len(clear) - len(shown):,} clear: --details shows all" if left else ""
    rows = [Row.of(c, ahead=True) for c in shown]
    return _table(family, [COLUMNS[name] for name in columns_of(family, parted)], rows, labels=2, note=note)


def slice_table(family: Family, contrasts: Iterable[SliceContrast], parted: bool = False) -> Table:
    """Slices as rows, the primary metric on the queries of each. ``parted`` gives each count of queries a column, and slices as ``kind = head``."""
    several = len(family.pairs) > 1
    labels = ["slice", *(["run"] if several else []), *(["against"] if several and family.each_pair else [])]
    names = [*labels, "change", "interval", "p", *([] if several else COUNTS[parted]), "queries"]
    if family.baseline is not None:
        names.append("detects")
    rows = [
        Row.of(part.contrast, part=part.equation if parted else part.label)
        for part in contrasts
        if part.contrast.metric == family.primary.name
    ]
    return _table(family, [COLUMNS[name] for name in names], rows, len(labels))


def board(family: Family) -> Table:
    """Runs as rows and metrics as columns: values, marked where they differ from the baseline."""
    marks = {(c.run, c.metric): MARKS.get(c.verdict, "") for c in family.contrasts if family.baseline is not None}

    def cell(panel: Panel) -> Callable[[str], Value]:
        def text(system: str) -> Value:
            mean = panel.means[system]
            return None if math.isnan(mean) else words.cell(mean) + marks.get((system, panel.name), "")

        return text

    columns = (
        Col(head="run", cell=lambda system: system),
        *(Col(head=panel.name, kind="value", cell=cell(panel)) for panel in family.panels),
    )
    return replace(table_of(columns, family.primary.means), turns=True)


def slice_board(family: Family, contrasts: Sequence[SliceContrast]) -> Table:
    """Every metric of every run on the queries of each slice: values, marked where they differ from the baseline."""
    values: dict[tuple[str, str, str], float] = {}
    marks: dict[tuple[str, str, str], str] = {}
    for part in contrasts:
        c = part.contrast
        values[part.label, c.run, c.metric], values[part.label, c.baseline, c.metric] = c.value, c.baseline_value
        marks[part.label, c.run, c.metric] = "" if family.baseline is None else MARKS.get(c.verdict, "")

    def text(row: tuple[str, str], metric: str) -> Value:
        value = values[(*row, metric)]
        return None if math.isnan(value) else NumberText(words.cell(value) + marks.get((*row, metric), ""), value)

    columns = (
        Col(head="slice", cell=lambda row: row[0]),
        Col(head="run", cell=lambda row: row[1]),
        *(Col(head=m, kind="value", cell=partial(text, metric=m)) for m in family.metrics),
    )
    known = dict.fromkeys((label, system) for label, system, _ in values)
    labels = dict.fromkeys(label for label, _ in known)
    rows = [row for label in labels for s in family.primary.means if (row := (label, s)) in known]
    return table_of(columns, rows, 2)


EFFECTS = (
    Col(head="run", cell=lambda c: c.run),
    Col(head="against", cell=lambda c: c.baseline),
    Col(head="relative", kind="value", hint="the difference relative to the mean of the baseline",
        cell=lambda c: number_cell(words.relative(c.relative[0], c.relative[1].ends), c.relative[0])),
    Col(head="interval", kind="value", hint="of the relative difference (Fieller), of this comparison only: not corrected for others",
        cell=lambda c: lift_interval_cell(c, c.relative)),
    Col(head="in sd", kind="value", hint="the difference in standard deviations of the differences of the queries",
        cell=lambda c: number_cell(words.cell(c.effect, 2, sign=True), c.effect)),
    Col(head="queries better", kind="value", hint="share of the queries on which the run is better (or higher, if the metric has no better direction)",
        cell=lambda c: NumberText(words.share(c.wins / c.queries, 1), c.wins / c.queries) if c.queries and c.pair.by_unit else None),
    Col(head="carried by", kind="value",
        hint="how many of the queries that favour the run ahead most must go for its lead to vanish, whichever of the two it is",
        cell=lambda c: c.favourable and NumberText(f"{c.favourable[0]:,} of {c.queries:,}", c.favourable[0])),
)  # fmt: skip


def effects_table(family: Family, panel: Panel) -> Table:
    """How large each difference is, in other units: relative to the baseline, in standard deviations, in queries."""
    note = (
        "in sd: standard deviations of the differences · queries better: their share of all, also unchanged ones · "
        "carried by: the lead is gone without this number of the queries that favour it most"
    )
    uncorrected = family.size > 1 and family.method.correction.corrects
    return _table(family, EFFECTS, family.of(panel.name), 2, note, more=", not corrected" if uncorrected else "")


def _table(
    family: Family, columns: Iterable[Col], rows: Sequence[Row | Contrast], labels: int = 1, note: str = "", more: str = ""
) -> Table:  # fmt: skip
    """A table of contrasts with the level of the intervals, and ``more`` about them, in its header."""
    table = table_of(columns, rows, labels, note)
    header = f"{words.percent(family.method.level)} interval{more}"
    heads = (replace(c, header=header) if c.header == "interval" else c for c in table.columns)
    return replace(table, columns=tuple(heads))


def paper_table(family: Family, caption: str = "", label: str = "", digits: int | None = None) -> PaperTable:
    """Every metric of every system as given, marked by significance: letters if all are compared, otherwise signs. Raises InputError for invalid digits or labels."""
    places = check_digits(digits)
    systems = family.primary.systems
    letters = dict(zip(systems, map(_letter, range(len(systems))), strict=True)) if family.baseline is None else {}
    columns = [_column(family, panel, letters, places) for panel in family.panels]
    units = words.counted(max(len(panel.units) for panel in family.panels), "query")
    return PaperTable(
        header=family.metrics, better=[panel.better for panel in family.panels], names=systems,
        letters=[letters.get(system, "") for system in systems], cells=list(zip(*columns, strict=True)),
        caption=caption or f"{words.counted(len(systems), 'system')} on {units}.", label=label or "tab:systems",
        note=_note(family, units),
    )  # fmt: skip


def _column(family: Family, panel: Panel, letters: dict[str, str], digits: int) -> list[PaperCell]:
    places = 0 if panel.measure.aggregate == "sum" else digits
    means = {system: panel.means[system] for system in panel.systems}
    texts = {s: "-" if math.isnan(mean) else words.number(mean, digits=places) for s, mean in means.items()}
    known = {s: panel.sign * mean for s, mean in means.items() if not math.isnan(mean)}
    several = panel.sign and known and len(set(texts.values())) > 1
    best = {texts[max(known, key=known.__getitem__)]} if several else set()
    marks = dict.fromkeys(panel.systems, "")
    for c in family.of(panel.name):
        if not letters:
            marks[c.run] = MARKS.get(c.verdict, "")
        elif c.verdict in {"better", "worse"}:
            ahead, behind = (c.run, c.baseline)[:: 1 if c.verdict == "better" else -1]
            marks[ahead] += f" {letters[behind]}"
    joint = "" if len(letters) <= len(ascii_lowercase) else ","
    return [
        PaperCell(texts[s], joint.join(sorted(marks[s].split(), key=_in_order)), texts[s] in best)
        for s in panel.systems
    ]


def _letter(number: int) -> str:
    """The letter of a system; two if there are more systems than letters."""
    more, place = divmod(number, len(ascii_lowercase))
    return (_letter(more - 1) if more else "") + ascii_lowercase[place]


def _in_order(letter: str) -> tuple[int, str]:
    return len(letter), letter


def _note(family: Family, units: str) -> str:
    level, method = words.percent(family.method.alpha), how(family)
    if family.baseline is None:
        marks = f"Letters: significantly better than these systems at {level}: {method}"
    else:
        marks = f"* better, † worse than {family.baseline} at {level}: {method}"
    bold = "" if all(not panel.sign for panel in family.panels) else " Best in bold."
    return f"{marks}; {units}.{bold}"
