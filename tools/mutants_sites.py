"""Where the package can be changed so that a test should notice: one small change of one expression each.

A change is text for text at the place of a node of the syntax tree, so all lines above it stay where they are.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from mutants_record import SRC, order_by_seed

# a room is how the paths of its modules begin; how many of the sample it gets
ROOMS: dict[str, int] = {
    "metrics": 70, "inference": 50, "engines": 40, "scoring": 55, "panels": 45, "verbs": 80,
    "logs": 40, "experiments": 35, "files/log": 45, "worlds": 20,
}  # fmt: skip
LEFT_OUT = ("engines/spark.py", "scoring/spark/")  # their tests need Java, and the record has none of them

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
          "floor": "ceil", "ceil": "floor", "argmin": "argmax", "argmax": "argmin"}  # fmt: skip
SENTENCE = re.compile(r"[a-z]+ [a-z]+|[a-z]+[,:;.] ")


@dataclass(frozen=True)
class Mutant:
    """One change: the file, what stood there, and what stands there now."""

    path: str
    home: str  # the function or class
    line: int
    start: int
    end: int
    old: str
    new: str
    shown: str  # the small thing that changed, as a person reads it
    nth: int = 0  # which of those that read the same in this function

    @property
    def key(self) -> str:
        """A name that stays when lines above are added."""
        return f"{self.path}::{self.home}: {self.shown}" + (f" ({self.nth + 1})" if self.nth else "")

    @property
    def room(self) -> str:
        """The room it is in."""
        return next((room for room in ROOMS if self.path.startswith(room)), self.path.partition("/")[0])

    def apply(self, source: str) -> str:
        """The source of the module with the change."""
        return source[: self.start] + self.new + source[self.end :]


def changed(node: ast.expr, inside: bool) -> Iterator[ast.expr]:
    """What this expression could wrongly be instead."""
    new = copy.deepcopy(node)
    match node, new:
        case ast.Compare(), ast.Compare():
            for i, op in enumerate(node.ops):
                if type(op) in COMPARED:
                    one = copy.deepcopy(node)
                    one.ops[i] = COMPARED[type(op)]()
                    yield one
        case ast.BinOp(), ast.BinOp() if type(node.op) in COMPUTED:
            new.op = COMPUTED[type(node.op)]()
            yield new
        case ast.BoolOp(), ast.BoolOp():
            new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield new
        case ast.UnaryOp(op=ast.Not() | ast.USub()), _:
            yield node.operand
        case ast.IfExp(), ast.IfExp():
            new.body, new.orelse = node.orelse, node.body
            yield new
        case ast.Call(func=ast.Name(id=name)), ast.Call(func=ast.Name() as of) if name in CALLED:
            of.id = CALLED[name]
            yield new
        case ast.Call(func=ast.Attribute(attr=name)), ast.Call(func=ast.Attribute() as at) if name in CALLED:
            at.attr = CALLED[name]
            yield new
        case ast.Constant(value=bool(value)), ast.Constant():
            new.value = not value
            yield new
        case ast.Constant(value=int() | float() as value), ast.Constant():
            new.value = value + 1
            yield new
        case ast.Constant(value=str(value)), ast.Constant() if inside and SENTENCE.search(value):
            new.value = ""
            yield new


class _Finder(ast.NodeVisitor):
    """Goes over a module and collects what could be changed."""

    def __init__(self, path: str, source: str) -> None:
        self.path, self.source = path, source
        self.starts = [0]
        for line in source.encode().split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.bytes = source.encode()
        self.homes: list[str] = []
        self.inside = False
        self.whole: ast.JoinedStr | None = None  # the f-string that holds what is visited
        self.found: list[Mutant] = []
        self.seen: Counter[str] = Counter()

    def at(self, line: int, column: int) -> int:
        """A place in the text, from the line and the byte that Python names."""
        return len(self.bytes[: self.starts[line - 1] + column].decode())

    def visit_scope(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        """A function or class: its defaults and body, without its docstring, its types and its decorators."""
        was = self.inside
        self.homes.append(node.name)
        if isinstance(node, ast.FunctionDef):
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                self.visit(default)
            self.inside = True
        for statement in node.body:
            self.visit(statement)
        self.homes.pop()
        self.inside = was

    visit_FunctionDef = visit_scope  # noqa: N815 (ast.NodeVisitor names what it calls so)
    visit_ClassDef = visit_scope  # noqa: N815

    def visit_Expr(self, node: ast.Expr) -> None:
        """A string that stands alone is told to people who read the code."""
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        """States what types cannot; nothing depends on it."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Types are not run; the bounds in them are, but as data of a declaration."""
        if node.value:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        """What only a type checker sees is not run."""
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> None:
        """Patterns are not expressions, so their bodies alone."""
        self.visit(node.subject)
        for case in node.cases:
            for statement in (*filter(None, [case.guard]), *case.body):
                self.visit(statement)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Python names no place inside an f-string, so it is changed as a whole."""
        outer, self.whole = self.whole, self.whole or node
        for part in node.values:
            self.visit(part.value if isinstance(part, ast.FormattedValue) else part)
        self.whole = outer

    def generic_visit(self, node: ast.AST) -> None:
        """Notes what an expression could be instead, then goes into it."""
        if isinstance(node, ast.expr):
            for new in changed(node, self.inside):
                self.note(node, new)
        super().generic_visit(node)

    def note(self, node: ast.expr, new: ast.expr) -> None:
        """Keeps one change."""
        place, text = (node, ast.unparse(new)) if self.whole is None else (self.whole, _with(self.whole, node, new))
        assert place.end_lineno is not None
        assert place.end_col_offset is not None
        start, end = self.at(place.lineno, place.col_offset), self.at(place.end_lineno, place.end_col_offset)
        home = ".".join(self.homes) or "(module)"
        shown = f"{_short(ast.unparse(node))} → {_short(ast.unparse(new))}"
        nth = self.seen[f"{home} {shown}"]
        self.seen[f"{home} {shown}"] += 1
        old = self.source[start:end]
        self.found.append(Mutant(self.path, home, place.lineno, start, end, old, f"({text})", shown, nth))


def _short(text: str) -> str:
    return text if len(text) <= 90 else f"{text[:60]} ... {text[-25:]}"


def _with(whole: ast.JoinedStr, node: ast.expr, new: ast.expr) -> str:
    """An f-string with one of its parts changed: a copy for which the part was copied already."""
    return ast.unparse(copy.deepcopy(whole, {id(node): new}))


@dataclass(frozen=True)
class Module:
    """A module of the package."""

    path: str

    @cached_property
    def source(self) -> str:
        """Its text."""
        return (SRC / self.path).read_text(encoding="utf-8")

    @cached_property
    def mutants(self) -> list[Mutant]:
        """All changes, without those that do not compile or mean the same."""
        finder = _Finder(self.path, self.source)
        finder.visit(ast.parse(self.source))
        return finder.found


def modules(room: str) -> list[str]:
    """The modules of a room that are tested here."""
    found = sorted(path.relative_to(SRC).as_posix() for path in SRC.rglob("*.py"))
    return [path for path in found if path.startswith(room) and not path.startswith(LEFT_OUT)]


def sample(seed: int, rooms: dict[str, int]) -> list[Mutant]:
    """So many mutants of each room, drawn by their names: what is added elsewhere does not change which.

    They are in turns, so that a run that is stopped has tried the same share of each room.
    """
    chosen: list[tuple[float, Mutant]] = []
    for room, size in rooms.items():
        every = [mutant for path in modules(room) for mutant in Module(path).mutants]
        drawn = sorted(every, key=lambda mutant: order_by_seed(mutant.key, seed))[:size]
        chosen += [(i / size, mutant) for i, mutant in enumerate(drawn)]
    return [mutant for _, mutant in sorted(chosen, key=lambda one: one[0])]
