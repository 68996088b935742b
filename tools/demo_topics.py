"""Derive the queries and the graded judgments of the demo data set.

Both come from the structure of the documentation; no person judged anything. See
build_demo.py for the rules in words.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from demo_docs import Doc, names

MIN_BODY_WORDS = 20
MIN_TWIN_WORDS = 5
MIN_CONTENT_WORDS = 4
QUERY_WORDS = (5, 24)
MAX_TWINS = 4  # itself included
MAX_PER_PACKAGE = 7
MAX_PER_PARENT = 3
SMALL_GROUP = 6  # how many siblings, references or subclasses still count as close
LARGE_GROUP = 15
AFFIXES = ("a", "async", "f", "i", "l", "r")
SUFFIXES = ("s", "_nowait", "_threadsafe", "er", "_iter")

STOPWORDS = names(
    """
    a an and any are as at be been by can for from given has have if in into is it its not of on
    or that the their then this to used was when where which while will with get check whether
    all each other one only so such
    """
)
PLAIN = {
    "args": "arguments",
    "arg": "argument",
    "attr": "attribute",
    "bool": "boolean",
    "dict": "dictionary",
    "dir": "directory",
    "fd": "file descriptor",
    "fileno": "file descriptor",
    "fp": "file",
    "func": "function",
    "int": "integer",
    "iter": "iterator",
    "msg": "message",
    "obj": "object",
    "params": "parameters",
    "repr": "representation",
    "seq": "sequence",
    "str": "string",
    "strs": "strings",
}
_OPENINGS = (
    (r"^returns? (?:true|1) (?:if|when|iff) ", "check whether "),
    (r"^returns? whether ", "check whether "),
    (r"^(?:is )?(?:true|1) (?:if|when|iff) ", "check whether "),
    (r"^returns? ", "get "),
    (r"^(?:this|the) (?:is|module|class|function|method) (?:an? |the )?", ""),
)
_MARKUP = re.compile(r":[a-z:]+:(?=`)|[`*]|(?<!\w)'|'(?!\w)|\"")
_QUOTED = re.compile(r"(?:(?<!\w)'|`|\*)+(\w+)(?:'(?!\w)|`|\*)")
_ASIDE = re.compile(r"\([^()]{2,}\)")
_BEFORE_ASIDE = re.compile(r"(\w+)\s+\(")
_CODE = re.compile(r"[_=<>%\[\]{}|\\/]|\w\.\w|\(\)|[a-z][A-Z]|\d|^[A-Z]$")
_MENTION = re.compile(r"`([A-Za-z_][\w.]*)|\b([A-Za-z_][\w.]*)\(|\b(\w+(?:\.\w+)+)|\b([a-z]+_\w+)")
_SEE = re.compile(r"\b[Ss]ee (?:also )?(?:the )?[`:a-z]*?([A-Za-z_][\w.]{2,})")


@dataclass
class Topic:
    """A query, the object it was made from, and the judged documents."""

    qid: str
    text: str
    target: Doc
    grades: dict[str, int] = field(default_factory=dict)

    def raise_to(self, grade: int, ids: Iterable[str]) -> None:
        """Judge documents, keeping the higher grade where one was judged before."""
        for doc_id in ids:
            self.grades[doc_id] = max(grade, self.grades.get(doc_id, 0))


def words(text: str) -> list[str]:
    """Lower-case words of a text."""
    return re.findall(r"[a-z]+", text.lower())


def content(text: str) -> frozenset[str]:
    """The words of a text that say something."""
    return frozenset(words(text)).difference(STOPWORDS)


def reword(summary: str) -> str:
    """Turn a summary sentence into a query; '' where identifiers would be left in it."""
    if any(m[1].lower() not in PLAIN for m in _QUOTED.finditer(summary)):
        return ""
    text, asides = _ASIDE.subn(" ", _MARKUP.sub("", summary))
    if asides and any(m[1].lower() in STOPWORDS for m in _BEFORE_ASIDE.finditer(summary)):
        return ""  # the aside was what the sentence is about
    tokens = [t.strip(".,:;!?").lower() for t in text.split() if t != "--"]
    tokens = [t for t in tokens if t]
    if any(_CODE.search(t) for t in text.split()) or set(tokens) & set(string.ascii_lowercase[1:]):
        return ""
    query = " ".join(PLAIN.get(token, token) for token in tokens)
    query = query.replace("file descriptor file descriptor", "file descriptor")
    for pattern, replacement in _OPENINGS:
        query, count = re.subn(pattern, replacement, query)
        if count:
            break
    return " ".join(query.split())


def usable_query(doc: Doc) -> str:
    """The query made from a document, or '' where it would be a poor one."""
    query = reword(doc.summary)
    tokens = words(query)
    doubled = any(a == b for a, b in pairwise(tokens))
    named = doc.leaf.lower() in tokens
    long_enough = QUERY_WORDS[0] <= len(tokens) <= QUERY_WORDS[1]
    says = len(content(query)) >= MIN_CONTENT_WORDS
    odd = doubled or named or tokens[:1] in (["warning"], ["this"], ["these"])
    return query if long_enough and says and not odd else ""


def rich(doc: Doc) -> bool:
    """Whether enough text is left when the summary is held out."""
    return doc.kind != "module" and len(words(doc.body)) >= MIN_BODY_WORDS


class Structure:
    """Look-ups over the collection: members, leaf names, mentions, bases."""

    def __init__(self, docs: list[Doc]) -> None:
        """Index the documents, which are sorted by id."""
        self.docs = {doc.id: doc for doc in docs}
        self.members: dict[str, list[str]] = defaultdict(list)
        self.by_leaf: dict[str, list[Doc]] = defaultdict(list)
        self.by_summary: dict[str, list[str]] = defaultdict(list)
        self.below: dict[str, list[str]] = defaultdict(list)
        for doc in docs:
            self.members[doc.parent].append(doc.id)
            self.by_leaf[doc.leaf.lower()].append(doc)
            self.by_summary[" ".join(words(doc.summary))].append(doc.id)
            for base in self.above(doc):
                self.below[base].append(doc.id)
        self.mentions = {doc.id: self.find_mentions(doc) for doc in docs}
        self.mentioned_by: dict[str, list[str]] = defaultdict(list)
        for doc in docs:
            for other in self.mentions[doc.id]:
                self.mentioned_by[other].append(doc.id)

    def above(self, doc: Doc) -> list[str]:
        """Base classes, or overridden methods, other than those of object."""
        return [b for b in doc.bases if not b.startswith("builtins.object") and b in self.docs]

    def twins(self, doc: Doc) -> list[str]:
        """The object and all those with the same summary sentence."""
        return self.by_summary[" ".join(words(doc.summary))]

    def clear(self, doc: Doc) -> bool:
        """Whether the twins are few, and none is left without text when it loses its summary."""
        twins = [self.docs[doc_id] for doc_id in self.twins(doc)]
        enough = all(len(words(twin.body)) >= MIN_TWIN_WORDS for twin in twins)
        return enough and len(twins) <= MAX_TWINS

    def find_mentions(self, doc: Doc) -> list[str]:
        """Ids of the documented objects that the docstring names."""
        groups = _MENTION.findall(doc.text) + [(m,) for m in _SEE.findall(doc.text)]
        named = {name.strip(".") for group in groups for name in group if name}
        hits = {self.resolve(name, doc) for name in named}
        return sorted(hit for hit in hits if hit and hit != doc.id)

    def resolve(self, name: str, doc: Doc) -> str:
        """The id that a name means inside a docstring: nearest scope first; '' for none."""
        scopes = [doc.id, doc.parent]
        while scopes[-1]:
            scopes.append(scopes[-1].rpartition(".")[0])
        for scope in scopes:
            full = f"{scope}.{name}" if scope else name
            if full in self.docs and (scope or "." in name):
                return full
        return ""

    def counterparts(self, doc: Doc) -> list[str]:
        """The same operation elsewhere: same name, or a name that differs by an affix."""
        leaf = doc.leaf.lower()
        same = [d for d in self.by_leaf[leaf] if d.id != doc.id and alike(d, doc)]
        near = [d for d in same if d.package == doc.package]
        if len(near) > SMALL_GROUP:
            near = []
        near += [d for d in same if similar(d, doc)]
        for other in variants(leaf):
            found = self.by_leaf.get(other, [])
            near += [d for d in found if d.parent == doc.parent and alike(d, doc)]
        return sorted({d.id for d in near})


def alike(one: Doc, two: Doc) -> bool:
    """Whether both are classes, or both functions or methods."""
    return "module" not in (one.kind, two.kind) and (one.kind == "class") == (two.kind == "class")


def similar(one: Doc, two: Doc, share: float = 0.4) -> bool:
    """Whether two summaries share at least this part of their words."""
    a, b = content(one.summary), content(two.summary)
    return len(a & b) >= share * len(a | b) > 0


def variants(leaf: str) -> list[str]:
    """Names that differ by a usual affix: find/rfind, dump/dumps, get/get_nowait."""
    longer = [a + leaf for a in AFFIXES] + [leaf + s for s in SUFFIXES]
    shorter = [leaf[len(a) :] for a in AFFIXES if leaf.startswith(a)]
    shorter += [leaf[: -len(s)] for s in SUFFIXES if leaf.endswith(s)]
    siblings = [a + rest for rest in shorter for a in AFFIXES]
    return [name for name in longer + shorter + siblings if len(name) > 2 and name != leaf]


def choose(docs: list[Doc], structure: Structure, size: int) -> list[Topic]:
    """Choose the queries: a fixed pseudo-random order, with caps per package and parent."""
    queries = {doc.id: usable_query(doc) for doc in docs if rich(doc)}
    pool = [doc for doc in docs if queries.get(doc.id)]
    pool = [doc for doc in pool if structure.clear(doc)]
    pool.sort(key=lambda doc: hashlib.sha256(doc.id.encode()).digest())
    packages: Counter[str] = Counter()
    parents: Counter[str] = Counter()
    chosen: dict[str, Doc] = {}
    for doc in pool:
        full = packages[doc.package] >= MAX_PER_PACKAGE or parents[doc.parent] >= MAX_PER_PARENT
        if len(chosen) < size and not full and queries[doc.id] not in chosen:
            chosen[queries[doc.id]] = doc
            packages[doc.package] += 1
            parents[doc.parent] += 1
    ordered = sorted(chosen.items(), key=lambda item: item[1].id)
    return [Topic(f"q{n:03d}", text, doc) for n, (text, doc) in enumerate(ordered, start=1)]


def judge(topic: Topic, structure: Structure) -> None:
    """Grade 3, 2 and 1 from the structure of the documentation."""
    doc = topic.target
    twins = structure.twins(doc)
    topic.raise_to(3, twins)
    topic.raise_to(2, structure.counterparts(doc))
    back = [i for i in structure.mentioned_by[doc.id] if structure.docs[i].package == doc.package]
    for group in (structure.mentions[doc.id], back, structure.above(doc), structure.below[doc.id]):
        judge_group(topic, group, structure)
    topic.raise_to(1, [d.parent for d in map(structure.docs.__getitem__, twins)])
    siblings = structure.members[doc.parent]
    topic.raise_to(1, [i for i in siblings if similar(structure.docs[i], doc, 0.6)])
    if len(siblings) <= SMALL_GROUP:
        topic.raise_to(1, siblings)
    topic.grades = {i: g for i, g in sorted(topic.grades.items()) if i in structure.docs}


def judge_group(topic: Topic, group: list[str], structure: Structure) -> None:
    """Grade a group of named objects: close when it is small and of the same package."""
    for doc_id in group:
        other = structure.docs[doc_id]
        close = len(group) <= SMALL_GROUP and other.package == topic.target.package
        if len(group) <= LARGE_GROUP:
            topic.raise_to(2 if close and other.kind != "module" else 1, [doc_id])


def add_pooled_zeros(topic: Topic, rankings: Iterable[list[str]], docs: dict[str, Doc], depth: int) -> None:
    """Judge 0 what the systems rank high in the target's package and no rule has graded."""
    for ranking in rankings:
        for doc_id in ranking[:depth]:
            if docs[doc_id].package == topic.target.package:
                topic.grades.setdefault(doc_id, 0)
