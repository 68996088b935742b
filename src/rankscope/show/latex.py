"""LaTeX: text that compiles, and the table of a paper, systems by metrics."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rankscope.errors import InputError
from rankscope.words import printable

SIGNS = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "≥": r"$\geq$", "·": r"$\cdot$", "†": r"$\dagger$", "±": r"$\pm$", "−": "$-$", "∞": r"$\infty$",
    "…": r"\ldots{}", "–": "--", "’": "'", "→": r"$\rightarrow$", "×": r"$\times$",
    # behind the end of a row brackets and stars would be of it
    "[": "{[}", "]": "{]}", "*": "{*}", **{sign: "\\" + sign for sign in "&%$#_{}"},
}  # fmt: skip
LETTERS = re.compile("[ -~¡-¿À-ÏÑ-ÖØ-Ýß-ïñ-öø-ýÿ]")  # characters that LaTeX sets without further fonts or packages
COLUMN, PAGE = 225, 460  # points of a narrow column of two, and of a whole page
LAYOUTS = (  # a float, the size of letters, the gap between columns, the size relative to 9 points, the width
    ("table", "small", 8, 1.0, COLUMN), ("table", "footnotesize", 6, 0.92, COLUMN), ("table*", "small", 8, 1.0, PAGE),
    ("table*", "scriptsize", 4, 0.82, PAGE),
)  # fmt: skip
WIDTHS = {"normal": 4.9, "bold": 5.4, "raised": 3.7}  # of a character at 9 points, on the safe side
LABEL = re.compile(r"[A-Za-z0-9:._-]+")


def latex_text(text: str) -> str:
    r"""Text as LaTeX sets it: signs of its own escaped, and letters that its fonts lack by those they are made of.

    >>> latex_text("50% of run_1 – é, ş, 検")
    '50\\% of run\\_1 -- é, s, ?'
    """
    return "".join(SIGNS.get(sign) or (sign if LETTERS.fullmatch(sign) else _plain(sign)) for sign in printable(text))


def _plain(sign: str) -> str:
    """Return a letter without marks that its font lacks; a question mark if nothing is left."""
    made = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
    return "".join(SIGNS.get(part, part) for part in made) or "?"


@dataclass(frozen=True)
class PaperCell:
    """A number as it is written, with the ``marks`` that are raised behind it; ``best`` ones are set in bold."""

    text: str
    marks: str = ""
    best: bool = False


def check_label(label: str) -> str:
    """Check the label of a LaTeX table. Raises InputError if it is invalid."""
    if not LABEL.fullmatch(label):
        raise InputError(f"label {label!r}: a label of LaTeX is letters, digits and : . _ -, like tab:results")
    return label


@dataclass(frozen=True)
class PaperTable:
    """The table of a paper: a row for each system, named and with the ``letter`` that others refer to it by, a column for each metric.

    ``header`` and ``names`` are plain text; ``better`` is the better direction of each metric.
    """

    header: Sequence[str]
    better: Sequence[str]
    names: Sequence[str]
    letters: Sequence[str]
    cells: Sequence[Sequence[PaperCell]]
    caption: str
    label: str
    note: str

    def __post_init__(self) -> None:
        check_label(self.label)

    def points(self, gap: float = 8.0) -> float:
        """About how wide it is at 9 points, with a ``gap`` between columns."""
        names = max(len(name) for name in ("", *self.names)) + 0.8 * max(len(letter) for letter in ("", *self.letters))
        out = WIDTHS["normal"] * names
        for i, head in enumerate(self.header):
            column = [row[i] for row in self.cells]
            wide = max((len(c.text) * WIDTHS["bold" if c.best else "normal"] for c in column), default=0.0)
            raised = max((len(c.marks) for c in column), default=0) * WIDTHS["raised"]
            out += max(wide + raised, (len(head) + (self.better[i] == "lower")) * WIDTHS["bold"]) + gap
        return out

    def _layout(self) -> tuple[str, str]:
        """Return the float and the size of letters: one column of a two-column page if it fits, otherwise both."""
        fitting = (layout for layout in LAYOUTS if layout[3] * self.points(layout[2] / layout[3]) <= layout[4])
        name, size, gap, _, _ = next(fitting, LAYOUTS[-1])
        return name, rf"\{size}\setlength{{\tabcolsep}}{{{gap / 2:g}pt}}"

    def lines(self) -> Iterator[str]:
        """The table in lines of LaTeX."""
        name_of_float, layout = self._layout()
        yield r"% needs \usepackage{booktabs} and \usepackage{threeparttable}"
        yield rf"\begin{{{name_of_float}}}[t]"
        yield rf"\centering{layout}"
        yield r"\begin{threeparttable}"
        yield rf"\caption{{{latex_text(self.caption)}}}"
        yield rf"\label{{{self.label}}}"
        yield rf"\begin{{tabular}}{{@{{}}l{'r@{}l' * len(self.header)}@{{}}}}"
        yield r"\toprule"
        arrows = (r"$\downarrow$" if better == "lower" else "" for better in self.better)
        heads = (latex_text(head) + arrow for head, arrow in zip(self.header, arrows, strict=True))
        yield " & ".join(["", *(rf"\multicolumn{{2}}{{c}}{{{head}}}" for head in heads)]) + r" \\"
        yield r"\midrule"
        for name, letter, cells in zip(self.names, self.letters, self.cells, strict=True):
            yield " & ".join([_raised(letter) + latex_text(name), *map(_cell, cells)]) + r" \\"
        yield r"\bottomrule"
        yield r"\end{tabular}"
        yield r"\begin{tablenotes}[flushleft]\footnotesize"
        yield rf"\item {latex_text(self.note)}"
        yield from (r"\end{tablenotes}", r"\end{threeparttable}", rf"\end{{{name_of_float}}}")


def check_digits(digits: int | None, usual: int = 3) -> int:
    """Return the digits after the decimal point, by default the usual ones. Raises InputError if they are invalid."""
    if isinstance(digits, bool) or (digits is not None and (not isinstance(digits, int) or not 1 <= digits <= 9)):
        raise InputError(f"digits={digits!r}: digits after the decimal point are a whole number from 1 to 9")
    return usual if digits is None else digits


def long_table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str, label: str) -> Iterator[str]:
    """Yield a table of any length in lines of LaTeX: it goes on over pages, each with the header. The first column is text."""
    head = " & ".join(map(latex_text, header)) + r" \\"
    yield r"% needs \usepackage{booktabs} and \usepackage{longtable}; in two columns put \onecolumn before it"
    yield rf"\begin{{longtable}}{{@{{}}l{'r' * (len(header) - 1)}@{{}}}}"
    yield rf"\caption{{{latex_text(caption)}}}\label{{{check_label(label)}}} \\"
    yield from (r"\toprule", head, r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule", r"\endhead")
    yield from (r"\bottomrule", r"\endlastfoot")
    yield from (" & ".join(map(latex_text, row)) + r" \\" for row in rows)
    yield r"\end{longtable}"


def _cell(cell: PaperCell) -> str:
    text = latex_text(cell.text)
    shown = rf"\textbf{{{text}}}" if cell.best else text
    return f"{shown} & {_raised(cell.marks)}"


def _raised(marks: str) -> str:
    return rf"\textsuperscript{{{latex_text(marks)}}}" if marks else ""
