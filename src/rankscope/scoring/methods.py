"""The statement of method of a paper: how values were made, with the sources of metrics and methods."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

from rankscope import words
from rankscope._version import __version__
from rankscope.errors import InputError
from rankscope.inference.base import Bounds, Correction, Interval, PairedTest
from rankscope.metrics import Metric
from rankscope.metrics.description import relevance_levels, stated_parameters
from rankscope.panels.method import find_method
from rankscope.scoring.request import Request

YEAR = r"(?:1[5-9]|20)\d\d"
PART = re.compile(rf"(?P<head>.+?)(?P<comma>,?) (?P<year>{YEAR})(?:, .+| \(.+\))?")
SURNAME = re.compile(r"(?:(?:van|von|de|der|di|la) )*[^\W\d_][^\W\d_]+(?:['’-][^\W\d_]+)*")
VOLUME = re.compile(r"(?P<journal>.*\D) (?P<volume>\d+)(?:\((?P<number>\d+)\))?")
JOURNAL = re.compile(r"Annals|Journal|JRSS|Biometri|Radiology|TOIS|Transactions|^Information Retrieval$|\d$|\)$")
MEETING = re.compile(r"[A-Z][A-Z0-9-]+")
VENUES = {  # abbreviations in full
    "TOIS": "ACM Transactions on Information Systems",
    "JRSS B": "Journal of the Royal Statistical Society: Series B",
    "SIGIR": "Proceedings of the International ACM SIGIR Conference on Research and Development in Information Retrieval",
    "CIKM": "Proceedings of the ACM Conference on Information and Knowledge Management",
    "ICTIR": "Proceedings of the ACM SIGIR International Conference on the Theory of Information Retrieval",
    "KDD": "Proceedings of the ACM SIGKDD Conference on Knowledge Discovery and Data Mining",
    "WSDM": "Proceedings of the ACM International Conference on Web Search and Data Mining",
    "ECIR": "Proceedings of the European Conference on Information Retrieval",
    "ICML": "Proceedings of the International Conference on Machine Learning",
    "ICDM": "Proceedings of the IEEE International Conference on Data Mining",
    "ADCS": "Proceedings of the Australasian Document Computing Symposium",
}  # fmt: skip
UNNAMED = {  # the journals of sources without one
    "A simple sequentially rejective multiple test procedure": "Scandinavian Journal of Statistics 6(2)",
    "Controlling the false discovery rate": "Journal of the Royal Statistical Society: Series B 57(1)",
    "Multiple comparisons among means": "Journal of the American Statistical Association 56(293)",
    "Individual comparisons by ranking methods": "Biometrics Bulletin 1(6)",
}
DOIS = {
    "Cumulated gain-based evaluation of IR techniques": "10.1145/582415.582418",
    "The probable error of a mean": "10.1093/biomet/6.1.1",
    "A comparison of statistical significance tests for information retrieval evaluation": "10.1145/1321440.1321528",
    "Rank-biased precision": "10.1145/1416950.1416952",
    "Expected Reciprocal Rank for Graded Relevance": "10.1145/1645953.1646033",
    "Controlling the false discovery rate": "10.1111/j.2517-6161.1995.tb02031.x",
    "Retrieval evaluation with incomplete information": "10.1145/1008992.1009000",
    "Novelty and diversity in information retrieval evaluation": "10.1145/1390334.1390446",
}
SPELLED = 3  # authors that a citation names
ESCAPED = {c: f"\\{c}" for c in "{}%&#_$"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


@dataclass(frozen=True)
class Reference:
    """A parsed source: ``whole`` is the original text; without a ``title`` the rest is uncertain."""

    whole: str
    authors: tuple[str, ...] = ()
    others: bool = False
    title: str = ""
    venue: str = ""
    year: str = ""

    @property
    def short(self) -> str:
        """The citation in a text: authors and year; in full if these are unknown."""
        if not self.authors:
            return self.whole
        *first, last = self.authors
        if self.others or len(self.authors) > SPELLED:
            return f"{self.authors[0]} et al., {self.year}"
        return f"{', '.join(first)}{' and ' if first else ''}{last}, {self.year}"


def read(source: str) -> Reference:
    """A source as the catalogue writes them: authors, title, venue, year; some have no venue, or no title."""
    whole = source.strip()
    parted = PART.fullmatch(whole)
    if parted is None:
        return Reference(whole)
    pieces = parted["head"].split(", ")
    authors, others, used = _authors(pieces)
    rest = pieces[used:]
    if not authors:
        return Reference(whole, year=parted["year"])
    venue = rest.pop() if rest and (not parted["comma"] or VOLUME.fullmatch(rest[-1])) else ""
    return Reference(whole, authors, others, ", ".join(rest), venue, parted["year"])


def _authors(pieces: list[str]) -> tuple[tuple[str, ...], bool, int]:
    """Parse the authors at the start of the pieces, whether there are more, and the number of pieces."""
    names: list[str] = []
    for used, piece in enumerate(pieces, start=1):
        if piece.endswith(" et al."):
            return (*names, piece.removesuffix(" et al.")), True, used
        several = piece.split(" and ")
        if not all(SURNAME.fullmatch(name) for name in several):
            break
        names += several
        if len(several) > 1:
            return tuple(names), False, used
    return tuple(names[:1]), False, 1  # a list of names ends with "and"


def sources_of(thing: Any, clustered: bool = False) -> list[str]:
    """Return the source of a metric or a method, without qualifications that do not apply here."""
    out = []
    for part in str(getattr(thing, "source", "") or "").split(";"):
        text = part.strip()
        if text.startswith("clusters:"):
            text = text.removeprefix("clusters:").strip() if clustered else ""
        elif text.startswith("trec_eval ") and hasattr(thing, "trec_name"):
            name = thing.trec_name()
            text = f"trec_eval {name}" if name else ""
        elif text.endswith("(exponential gain)") and getattr(thing, "gain", "") != "exponential":
            text = ""
        if text:
            out.append(text)
    return out


def in_brackets(sources: Iterable[str], *before: str) -> str:
    """Return the text in brackets after a metric or a method; empty without a source."""
    parts = [*before, *dict.fromkeys(read(source).short for source in sources)]
    return f" ({'; '.join(parts)})" if parts else ""


def bibliography(sources: Iterable[str]) -> Iterator[str]:
    """Return BibTeX entries: rankscope, then each dated source once."""
    try:
        stated = metadata("rankscope").get_all("Project-URL") or []
    except PackageNotFoundError:  # not installed
        stated = []
    pairs = (one.partition(",") for one in stated)
    home = next((address.strip() for name, _, address in pairs if name.strip() == "Homepage"), "")
    yield from ("@software{rankscope,", "  author = {{The rankscope developers}},", "  title = {rankscope},")
    yield from (f"  version = {{{__version__}}},", *([f"  url = {{{home}}},"] if home else []), "}")
    used: set[str] = {"rankscope"}
    for one in _distinct(read(source) for source in sources):
        yield from _entry(one, _key(one, used))


def _distinct(references: Iterable[Reference]) -> Iterator[Reference]:
    """Dated references, each once: one without a title is the one of the same authors and year that has one."""
    dated = {(one.authors, one.year, one.title or one.whole): one for one in references if one.year}
    titled = {(one.authors, one.year) for one in dated.values() if one.title}
    venues = {(one.authors, one.year): one.venue for one in dated.values() if one.authors and not one.title}
    for one in dated.values():
        who = one.authors, one.year
        if one.title:
            yield replace(one, venue=one.venue or venues.get(who, ""))
        elif who not in titled:
            yield one


def _entry(one: Reference, key: str) -> Iterator[str]:
    kind, where = _where(one) if one.title else ("misc", {})
    fields = {
        "author": " and ".join([*one.authors, *(["others"] if one.others else [])]) if one.title else "",
        "title": f"{{{_as_bibtex(one.title or one.whole)}}}",
        **{name: _as_bibtex(value) for name, value in where.items()},
        "year": one.year,
        **({"doi": doi, "url": f"https://doi.org/{doi}"} if (doi := DOIS.get(one.title)) else {}),
    }
    yield f"@{kind}{{{key},"
    yield from (f"  {name} = {{{value}}}," for name, value in fields.items() if value)
    yield "}"


def _where(one: Reference) -> tuple[str, dict[str, str]]:
    venue = one.venue or UNNAMED.get(one.title, "")
    if not venue:
        return "misc", {}
    if venue in VENUES:
        name = VENUES[venue]
        return ("inproceedings", {"booktitle": name}) if name[:11] == "Proceedings" else ("article", {"journal": name})
    volume = VOLUME.fullmatch(venue)
    if volume:
        return "article", {
            "journal": VENUES.get(volume["journal"], volume["journal"]),
            "volume": volume["volume"],
            "number": volume["number"] or "",
        }
    if JOURNAL.search(venue):
        return "article", {"journal": venue}
    if MEETING.fullmatch(venue):
        return "inproceedings", {"booktitle": venue}
    return "misc", {"howpublished": venue}


def _as_bibtex(text: str) -> str:
    return "".join(ESCAPED.get(character, character) for character in text)


def _key(one: Reference, used: set[str]) -> str:
    first = one.authors[0].split(" ")[-1] if one.authors else re.split(r"[\s,]", one.whole, maxsplit=1)[0]
    plain = unicodedata.normalize("NFKD", first).encode("ascii", "ignore").decode()
    stem = key = f"{re.sub(r'[^A-Za-z]', '', plain).casefold() or 'source'}{one.year}"
    number = 1
    while key in used:
        number += 1
        key = f"{stem}{'abcdefghijklmnopqrstuvwxyz'[number - 1] if number <= 26 else f'-{number}'}"
    used.add(key)
    return key


def _numbers(spelling: str) -> str:
    return spelling.partition("(")[2].removesuffix(")")


@dataclass
class Cites:
    """The sources that a text cites, in order; ``clustered`` is true for queries in clusters."""

    clustered: bool
    sources: list[str] = field(default_factory=list)

    def of(self, thing: Any, *before: str) -> str:
        """Return the brackets after a metric or a method: the text ``before``, and its sources."""
        named = sources_of(thing, self.clustered)
        self.sources += named
        return in_brackets(named, *filter(None, before))

    def method(self, method: PairedTest | Interval | Correction, *more: str, between: str = "") -> str:
        """Return a test, interval or correction in words, with its numbers (``rounds=500``) and its sources."""
        return f"{in_words(method)}{between}{self.of(method, _numbers(str(method)), *more)}"

    def interval(self, spelling: str, alone: bool) -> str:
        """Return an interval by its spelling; several intervals name their values."""
        try:
            interval = find_method(Interval, spelling)
        except InputError:  # made by a class that is not declared
            return f"{spelling.partition('(')[0]} intervals{self.of(None, _numbers(spelling))}"
        return self.method(interval, *([interval.fits] if interval.fits and not alone else []))

    def statement(self, sentences: Iterable[str]) -> str:
        """Return the paragraph, and its sources as BibTeX."""
        return "\n".join([" ".join(sentences), "", *bibliography(self.sources), ""])


def in_words(method: PairedTest | Interval | Correction) -> str:
    """Return a method in words, or by its name."""
    by_kind = {"interval": "{} intervals", "test": "the test {}", "correction": "the correction {}"}
    return method.in_words or by_kind[method.kind].format(type(method).__name__)


def of_values(
    metrics: Iterable[tuple[str, Metric | None]], runs: str, queries: int, cites: Cites, request: Request | None, health: Sequence[Any] = (),
) -> Iterator[str]:  # fmt: skip
    """Yield the runs (``2 runs were``), their metrics, and the policies that changed something. ``request`` is None if scores were given."""
    metrics = list(metrics)
    named = "; ".join(
        name + ("" if metric is None else cites.of(metric, *stated_parameters(metric))) for name, metric in metrics
    )
    on = words.counted(queries, "query")
    if request is None:
        yield f"Scores of {runs} on {on} were compared with rankscope {__version__}, on {named}."
        return
    were = "was" if runs.startswith("1 ") else "were"
    yield f"{runs} {were} scored on {on} with rankscope {__version__}, by {named}."
    if level := relevance_levels(metric for _, metric in metrics if metric is not None):
        yield level
    yield from request.sentences(health)


def of_means(bounds: Iterable[Bounds], level: float, cites: Cites, clusters: str, tests: str = "") -> Iterator[str]:
    """Yield the intervals of means, and the ``clusters`` of queries if there are some."""
    methods = sorted({one.method for one in bounds if one.known})
    if names := [cites.interval(method, alone=len(methods) == 1) for method in methods]:
        yield f"Intervals of means are {words.percent(level)} {' or '.join(names)}."
    if cites.clustered:
        yield f"Queries come in {clusters}, and intervals{tests} of the sums over each."
