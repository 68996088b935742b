"""Reads a package without importing it: who imports whom, and what is public. The laws of the house are made of these."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tests.made.files import some

Function = ast.FunctionDef | ast.AsyncFunctionDef
BY_NAME = {"import_module", "__import__", "resolve_name", "run_module", "spec_from_file_location"}


class Import(NamedTuple):
    """One import: who imports what, and on which line."""

    source: str
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target}"


@dataclass(frozen=True)
class Package:
    """A package on disk. ``loaders`` are its functions that import what they are called with, by their dotted names."""

    root: Path
    loaders: frozenset[str] = field(default=frozenset())

    @property
    def name(self) -> str:
        """The name of the package."""
        return self.root.name

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """The syntax tree of each module by its dotted name; a package has the name of its folder."""
        out = {}
        for path in some(self.root.rglob("*.py")):
            parts = (self.name, *path.relative_to(self.root).with_suffix("").parts)
            dotted = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            out[dotted] = ast.parse(path.read_text(encoding="utf-8"))
        return out

    def is_package(self, module: str) -> bool:
        """Whether a module is a folder."""
        return self.root.joinpath(*module.split(".")[1:]).is_dir()

    def module_of(self, dotted: str) -> str:
        """The module that a dotted name lies in: ``rankscope.lists`` of ``rankscope.lists.Judged``."""
        while dotted not in self.trees and "." in dotted:
            dotted = dotted.rpartition(".")[0]
        return dotted

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Every import, also inside functions, under TYPE_CHECKING, and by a literal name."""
        return tuple(one for module in self.trees for one in self._imports_of(module))

    @cached_property
    def inner(self) -> tuple[Import, ...]:
        """The imports of the package's own modules."""
        return tuple(one for one in self.imports if one.target.partition(".")[0] == self.name)

    @cached_property
    def outer(self) -> tuple[Import, ...]:
        """The imports of third parties, by the name of the package that is installed."""
        tops = (one._replace(target=one.target.partition(".")[0]) for one in self.imports)
        return tuple(one for one in tops if one.target not in {self.name, *sys.stdlib_module_names})

    def _imports_of(self, module: str) -> Iterator[Import]:
        for node in ast.walk(self.trees[module]):
            if isinstance(node, ast.Import):
                for name in node.names:
                    yield Import(module, self._resolved(name.name), node.lineno)
            elif isinstance(node, ast.ImportFrom):
                base = self._base_of(module, node)
                for name in node.names:
                    yield Import(module, self._resolved(f"{base}.{name.name}"), node.lineno)
        for target, line in self.named[module]:
            if target is not None:
                yield Import(module, self._resolved(target), line)

    def _resolved(self, dotted: str) -> str:
        return self.module_of(dotted) if dotted.partition(".")[0] == self.name else dotted

    def _base_of(self, module: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = module.split(".")
        above = parts[: len(parts) - node.level + self.is_package(module)]
        return ".".join([*above, *([node.module] if node.module else [])])

    @cached_property
    def named(self) -> dict[str, list[tuple[str | None, int]]]:
        """What each module imports by a name: the literal, or None where it is held in a variable, and the line."""
        return {module: list(self._named(module)) for module in self.trees}

    def _named(self, module: str) -> Iterator[tuple[str | None, int]]:
        tree = self.trees[module]
        bound = set(BY_NAME)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                base = self._base_of(module, node)
                bound |= {
                    one.asname or one.name
                    for one in node.names
                    if one.name in BY_NAME or f"{base}.{one.name}" in self.loaders
                }
        # a loader as an attribute of its module: extra.needed
        attributes = {loader.split(".")[-1]: ".".join(loader.split(".")[-2:]) for loader in self.loaders}
        literal = {
            id(node.func): node.args[0].value
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                imports = node.id in bound
            elif isinstance(node, ast.Attribute):
                ending = attributes.get(node.attr)
                imports = node.attr in BY_NAME or (ending is not None and ast.unparse(node).endswith(ending))
            else:
                continue
            if imports:
                name = literal.get(id(node))
                yield name if isinstance(name, str) else None, node.lineno


# --- the laws: each gives the breaches, one line each --------------------------------------------------------------


def room_of(module: str) -> str:
    """The room of a module: its folder or file in the package; each verb is a room of its own."""
    parts = module.split(".")[1:]
    return "/".join(parts[:2]) if parts[:1] == ["verbs"] else parts[0] if parts else "__init__"


def without_a_floor(package: Package, floors: Mapping[str, float]) -> list[str]:
    """Rooms that the plan does not name."""
    return sorted({room_of(module).partition("/")[0] for module in package.trees} - set(floors))


def not_falling(package: Package, floors: Mapping[str, float]) -> list[str]:
    """Imports that do not fall: of a higher floor, or of another room on the same floor."""
    out = []
    for one in package.inner:
        here, there = room_of(one.source), room_of(one.target)
        low, high = (floors.get(room.partition("/")[0], 0) for room in (there, here))
        if here != there and low >= high:
            out.append(f"{one} ({here} is on floor {high}, {there} on floor {low})")
    return out


def circles(package: Package) -> list[str]:
    """Modules that import each other, by whatever way round."""
    below = defaultdict(set)
    for one in package.inner:
        below[one.source].add(one.target)
    return [" <-> ".join(ring) for ring in rings(below) if len(ring) > 1 or ring[0] in below[ring[0]]]


def rings(below: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of a graph, each sorted (Kosaraju's two passes, without recursion)."""
    above = defaultdict(set)
    for node, targets in below.items():
        for target in targets:
            above[target].add(node)
    order: list[str] = []
    seen: set[str] = set()
    for start in sorted({*below, *above}):
        order += _finished(start, below, seen)
    seen = set()
    parts = (sorted(_finished(start, above, seen)) for start in reversed(order))
    return sorted(filter(None, parts))


def _finished(start: str, edges: Mapping[str, set[str]], seen: set[str]) -> list[str]:
    """What can be reached and was not seen before, each after all that it leads to."""
    if start in seen:
        return []
    seen.add(start)
    out: list[str] = []
    stack = [(start, iter(sorted(edges.get(start, ()))))]
    while stack:
        node, rest = stack[-1]
        after = next((one for one in rest if one not in seen), None)
        if after is None:
            out.append(node)
            stack.pop()
        else:
            seen.add(after)
            stack.append((after, iter(sorted(edges.get(after, ())))))
    return out


def by_variable(package: Package, registries: set[str]) -> list[str]:
    """Imports by a name in a variable, and names of modules in strings, outside the registries."""
    out = []
    for module, tree in package.trees.items():
        if module in registries:
            continue
        named = package.named[module]
        out += [f"{module}:{line} imports by a name in a variable" for name, line in named if name is None]
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            own = f"{module}.".startswith(f"{node.value}.")  # the folder that it lies in, to find its data
            if "." in node.value and node.value in package.trees and not own and (node.value, node.lineno) not in named:
                out.append(f"{module}:{node.lineno} names the module {node.value} in a string")
    return out


def misplaced(package: Package, allowed: Mapping[str, set[str]]) -> list[str]:
    """Third parties that no room, or not this room, may import; ``engines/spark`` names one module of a room."""
    out = []
    for one in package.outer:
        inside = "/".join(one.source.split(".")[1:]) or "__init__"
        places = allowed.get(one.target, set())
        if not any(place == "anywhere" or f"{inside}/".startswith(f"{place}/") for place in places):
            out.append(str(one))
    return out


def long_functions(package: Package, most: int = 60) -> list[str]:
    """Functions of more lines than that, nested ones too."""
    return [
        f"{module}.{node.name} has {lines} lines"
        for module, tree in package.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, Function) and (lines := (node.end_lineno or 0) - node.lineno + 1) > most
    ]


def several_homes(package: Package, spelled: tuple[str, ...] = ()) -> list[str]:
    """Names of classes that stand in several modules.

    What users spell in lower case (``t``) may be a test and an interval, and the classes in modules ``spelled`` are called as users
    spell them, whatever else has that name.
    """
    homes = defaultdict(list)
    for module, tree in package.trees.items():
        if f"{module}.".startswith(tuple(f"{one}." for one in spelled)):
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name.lstrip("_")[:1].isupper():
                homes[node.name].append(module)
    return [f"{name} is a class in {', '.join(places)}" for name, places in sorted(homes.items()) if len(places) > 1]


def public(package: Package) -> Iterator[tuple[str, ast.ClassDef | None, ast.ClassDef | Function]]:
    """Every public class, function and method: its dotted name, the class it is in, and its node."""
    for module, tree in package.trees.items():
        if any(part.startswith("_") for part in module.split(".")):
            continue
        for node in tree.body:
            if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_"):
                continue
            yield f"{module}.{node.name}", None, node
            if isinstance(node, ast.ClassDef):
                methods = (one for one in node.body if isinstance(one, Function) and not one.name.startswith("_"))
                yield from ((f"{module}.{node.name}.{one.name}", node, one) for one in methods)


def unexplained(package: Package) -> list[str]:
    """What is public and has no docstring; a method may have that of a class above."""
    classes = {
        node.name: node for tree in package.trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    }

    def above(name: str, owner: ast.ClassDef, seen: tuple[str, ...] = ()) -> bool:
        for base in owner.bases:
            called = ast.unparse(base).partition("[")[0].rpartition(".")[2]
            if called in seen or called in {"NamedTuple", "Protocol", "Generic", "ABC", "Enum", "object"}:
                continue
            if called not in classes:
                return True  # a class of another package explains its own methods
            methods = [one for one in classes[called].body if isinstance(one, Function) and one.name == name]
            if any(map(ast.get_docstring, methods)) or above(name, classes[called], (*seen, called)):
                return True
        return False

    return [
        f"{name} has no docstring"
        for name, owner, node in public(package)
        if not ast.get_docstring(node)
        and not (owner and above(node.name, owner))
        and not any("overload" in ast.unparse(one) or ".setter" in ast.unparse(one) for one in node.decorator_list)
    ]


def untyped(package: Package) -> list[str]:
    """Parameters of public functions that have no type."""
    out = []
    for name, owner, node in public(package):
        if isinstance(node, Function):
            own = owner is not None and not any("staticmethod" in ast.unparse(one) for one in node.decorator_list)
            first = [*node.args.posonlyargs, *node.args.args][own:]
            extra = [one for one in (node.args.vararg, node.args.kwarg) if one]
            out += [
                f"{name}: {one.arg} has no type"
                for one in [*first, *node.args.kwonlyargs, *extra]
                if not one.annotation
            ]
    return out
