"""The table of a comparison for a paper: systems as rows, metrics as columns, the best in bold, what is significant marked."""

from __future__ import annotations

import math
from string import ascii_lowercase

from rankscope import words
from rankscope.panels.families import Family
from rankscope.panels.panel import Panel
from rankscope.show.latex import PaperCell, PaperTable, check_digits
from rankscope.verbs.compare.tables import MARKS, how


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
