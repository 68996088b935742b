"""Collect the documents of the demo data set: docstrings of Python's standard library.

Nothing is read from files: the public modules are imported and walked, so the collection
follows the interpreter that runs this. See build_demo.py for the whole recipe.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass


def names(text: str) -> frozenset[str]:
    """The names in a text, separated by blanks."""
    return frozenset(text.split())


# Not library documentation, or with an effect when imported.
SKIP_TOP = names("antigravity ensurepip idlelib lib2to3 pydoc_data test this turtledemo venv")
# Left out to keep the collection small and about one subject: graphical toolkits, modules
# removed in Python 3.12 and 3.13 (PEP 594), and second names of other modules.
SKIP_TOP |= names(
    """
    tkinter turtle curses
    aifc asynchat asyncore audioop cgi cgitb chunk crypt distutils imghdr imp mailcap msilib nis
    nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib
    genericpath nt ntpath nturl2path posix posixpath opcode pyexpat sre_compile sre_constants
    sre_parse
    """
)
SKIP_SUB = names(
    """
    asyncio.windows_events asyncio.windows_utils ctypes.macholib ctypes.wintypes encodings
    multiprocessing.dummy
    """
)
# Modules that are attributes of other modules.
EXTRA_MODULES = ("os.path",)
MAX_COPIES = 6  # a text carried by more objects than this is boilerplate

_SIGNATURE = re.compile(r"^[A-Za-z_][\w.]*\((?:[^()]|\([^()]*\))*\)\s*(->|--|:|=)?\s*")
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)[.!?](?=\s+[\"'(`*:]*[A-Z<])|\.$")
_BAD_TEXT = re.compile(r"0x[0-9a-f]{6,}|^Alias for field number|^An enumeration\.$")


@dataclass(frozen=True)
class Doc:
    """One documented object: its public name, kind, summary sentence and remaining text."""

    id: str
    kind: str
    summary: str
    body: str
    bases: tuple[str, ...] = ()

    @property
    def leaf(self) -> str:
        """The last part of the name."""
        return self.id.rpartition(".")[2]

    @property
    def parent(self) -> str:
        """The name of the class or module that holds it ('' for a top module)."""
        return self.id.rpartition(".")[0]

    @property
    def package(self) -> str:
        """The top-level module."""
        return self.id.partition(".")[0]

    @property
    def text(self) -> str:
        """Summary and body together."""
        return f"{self.summary} {self.body}".strip()


@dataclass
class Found:
    """An object met on the walk, with every public name it was met under."""

    obj: object
    kind: str
    doc: str
    names: list[str]
    home: str
    owner: type | None = None


def module_names() -> list[str]:
    """Names of the public modules to walk, sorted."""
    found = list(EXTRA_MODULES)
    for top in sorted(sys.stdlib_module_names):
        if top.startswith("_") or top in SKIP_TOP:
            continue
        module = import_quietly(top)
        if module is None:
            continue
        found.append(top)
        if top not in SKIP_SUB and hasattr(module, "__path__"):
            found += [n for n in submodule_names(module) if import_quietly(n) is not None]
    return sorted(found)


def submodule_names(package: types.ModuleType) -> Iterator[str]:
    """Names of the public modules inside a package."""
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        parts = info.name.split(".")
        private = any(part.startswith("_") or part in ("test", "tests") for part in parts)
        if not private and not any(".".join(parts[:n]) in SKIP_SUB for n in range(1, 9)):
            yield info.name


def import_quietly(name: str) -> types.ModuleType | None:
    """Import a module, or None where this build or platform has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in EXTRA_MODULES:
            head, _, tail = name.rpartition(".")
            found = getattr(importlib.import_module(head), tail)
            return found if isinstance(found, types.ModuleType) else None
        try:
            return importlib.import_module(name)
        except ImportError:
            return None


def public_members(module: types.ModuleType, name: str) -> Iterator[tuple[str, object]]:
    """The functions and classes that a module offers, with their names."""
    listed = getattr(module, "__all__", None)
    for attribute in sorted(listed if listed is not None else dir(module)):
        if attribute.startswith("_"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            obj = getattr(module, attribute, None)
        if not (inspect.isroutine(obj) or inspect.isclass(obj)):
            continue
        home = str(getattr(obj, "__module__", None) or name)
        own = home.lstrip("_").split(".")[0] == name.split(".", maxsplit=1)[0] or name == "os.path"
        if listed is not None or own:
            yield attribute, obj


def identity(obj: object) -> int:
    """One number for an object however it is bound."""
    return id(getattr(obj, "__func__", obj))


def own_doc(obj: object) -> str:
    """The object's own docstring, cleaned; '' where it has none worth keeping."""
    raw = vars(obj).get("__doc__") if isinstance(obj, type) else getattr(obj, "__doc__", None)
    if not isinstance(raw, str) or _BAD_TEXT.search(raw):
        return ""
    name = getattr(obj, "__name__", "")
    if isinstance(obj, type) and re.fullmatch(rf"{re.escape(name)}\(.*\)(?: -> \S+)?", raw):
        return ""  # written by dataclass or namedtuple
    return inspect.cleandoc(raw).strip()


def walk() -> dict[int, Found]:
    """Every documented public object, by identity."""
    found: dict[int, Found] = {}
    modules = [(name, import_quietly(name)) for name in module_names()]
    for name, module in modules:
        if module is None:
            continue
        note(found, module, name, "module", getattr(module, "__name__", name))
        for attribute, obj in public_members(module, name):
            full = f"{name}.{attribute}"
            home = str(getattr(obj, "__module__", None) or name)
            note(found, obj, full, "class" if inspect.isclass(obj) else "function", home)
            if isinstance(obj, type):
                walk_class(found, obj, full, home)
    return found


def walk_class(found: dict[int, Found], cls: type, full: str, home: str) -> None:
    """Add the methods that a class defines and documents itself."""
    for attribute in sorted(vars(cls)):
        obj = vars(cls)[attribute]
        if isinstance(obj, (staticmethod, classmethod)):
            obj = obj.__func__
        if attribute.startswith("_") or not inspect.isroutine(obj):
            continue
        if own_doc(obj) not in inherited_docs(cls, attribute):
            note(found, obj, f"{full}.{attribute}", "method", home, cls)


def inherited_docs(cls: type, attribute: str) -> set[str]:
    """Docstrings of the same attribute in the classes above."""
    above = [vars(base).get(attribute) for base in cls.__mro__[1:]]
    return {own_doc(obj) for obj in above if obj is not None}


def note(found: dict[int, Found], obj: object, name: str, kind: str, home: str, owner: type | None = None) -> None:
    """Record an object under one more name."""
    entry = found.get(identity(obj))
    if entry is not None:
        entry.names.append(name)
        return
    doc = own_doc(obj)
    if doc:
        found[identity(obj)] = Found(obj, kind, doc, [name], home, owner)


def canonical(entry: Found) -> str:
    """The name to show: os.path first, then the object's own package, then the shortest."""
    home = entry.home.lstrip("_").split(".")[0]

    def order(name: str) -> tuple[bool, bool, int, str]:
        away = name.split(".", maxsplit=1)[0] != home
        return not name.startswith("os.path."), away, name.count("."), name

    return min(entry.names, key=order)


def strip_signature(doc: str) -> str:
    """Drop the call signatures with which many docstrings of C functions begin."""
    lines = doc.split("\n")
    while lines:
        match = _SIGNATURE.match(lines[0])
        if not match:
            break
        rest = lines[0][match.end() :].strip()
        returns_only = match.group(1) in ("->", "=", None) and len(rest.split()) <= 3
        if rest and not returns_only:
            lines[0] = rest
            break
        if rest and match.group(1) is None:
            break  # a sentence that begins with a call
        lines = lines[1:]
    return "\n".join(lines).strip()


def split_summary(doc: str) -> tuple[str, str]:
    """The first sentence of a docstring and everything after it."""
    paragraph, _, rest = doc.partition("\n\n")
    flat = " ".join(paragraph.split())
    match = _SENTENCE_END.search(flat)
    cut = match.end() if match else len(flat)
    body = f"{flat[cut:]} {' '.join(rest.split())}".strip()
    return flat[:cut].strip(), body


def collect() -> list[Doc]:
    """All documents, sorted by id."""
    found = walk()
    ids = {key: canonical(entry) for key, entry in found.items()}
    docs: dict[str, Doc] = {}
    for key, entry in found.items():
        summary, body = split_summary(strip_signature(entry.doc))
        if len(summary.split()) >= 3:
            docs[ids[key]] = Doc(ids[key], entry.kind, summary, body, bases(entry, ids))
    copies = Counter(doc.text for doc in docs.values())
    kept = [doc for doc in docs.values() if copies[doc.text] <= MAX_COPIES]
    return sorted(kept, key=lambda doc: doc.id)


def bases(entry: Found, ids: dict[int, str]) -> tuple[str, ...]:
    """Direct base classes of a class; the overridden methods of a method."""
    if isinstance(entry.obj, type):
        return tuple(sorted(ids[id(b)] for b in entry.obj.__bases__ if id(b) in ids))
    if entry.owner is None:
        return ()
    leaf = entry.names[0].rpartition(".")[2]
    above = [vars(base).get(leaf) for base in entry.owner.__mro__[1:]]
    over = [ids.get(identity(obj)) for obj in above if obj is not None]
    return tuple(sorted(name for name in over if name is not None))
