"""Count wording habits in docs and source, and fail if a rate per 1,000 words exceeds its ceiling.

    python tools/check_wording.py                       counts, and rates per 1,000 words; exit code 1 above a ceiling
    python tools/check_wording.py --show where-if       list the hits of one habit (file:line)
    python tools/check_wording.py --show where-if docs  ... in one corpus
    python tools/check_wording.py --write               lower the ceilings in tools/wording.json to today's rates

The corpora are docs (hand-written Markdown), docstrings, printed strings and comments of the package. Code blocks, text in
backticks, addresses and generated pages are skipped. The patterns are rough: a hit may be right, the ceilings only keep
their number from growing. Needs only the standard library.
"""

from __future__ import annotations

import ast
import io
import json
import math
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CEILINGS = Path(__file__).with_name("wording.json")
CORPORA = ("docs", "docstrings", "printed", "comments")
GENERATED = {"metrics.md", "conformance.md", "calibration.md", "benchmarks.md", "scale.md", "trust.md"}
MOST_WORDS = 30  # of a sentence that is not long
UNLIMITED = {"passive"}  # counted, but as frequent as in other libraries

BE = r"(?:is|are|was|were|be|been|being)"
UNIT = (
    r"(?:row|line|query|user|run|document|metric|slice|unit|day|part|thread|core|list|cluster|cell|file|position|rank|pair"
    r"|system|variant|shown item|value|column|series|rule|family|format|verb|group|section|method|chunk|batch|source|key"
    r"|process|label|number)"
)
PARTICIPLE = (
    r"(?:\w{3,}ed|told|said|given|made|read|kept|put|held|drawn|taken|found|seen|left|known|shown|written|met|laid|sent|cut"
    r"|built|thrown|done)"
)
PATTERNS = {
    "riddle": r"\A(?:What|Whether|Why|Who|Where|That of|Those|How)\b",  # docstrings only
    "what-noun": r"\b(?:what|who|whoever)\b(?! if\b| to do\b| is new\b|'s\b)",
    "say-tell": r"\b(?:says?|said|tells?|told|speaks?|spoken)\b",
    "where-if": r"\bwhere\b",
    "that-of": r"\b(?:that|those|these) of\b|\bof (?:which|whom|whose|those|these|them)\b|\bwhose\b",
    "of-front": r"(?:\A|(?<=[.;:!?] ))Of (?=\w)",
    "fronted": (
        r"(?:\A|(?<=[.!?] ))(?:Beside|Only|So (?!that)|Among|Beyond|Below|Above|Within|Without|Between|Then|Where|Not|Nor)"
        r" [a-z]"
    ),
    "no-per": rf"\b(?:a|an|one|each) (?:query )?[a-z-]+ an? {UNIT}\b|\b[a-z]+s an? {UNIT}\b",
    "negation": (
        rf"\b{BE} (?:no|none|nobody|nothing)\b|\bnobody\b|\bnone\b"
        r"|\bno (?:number|run|part|log|path|judgment|metric|text|list)s?\b"
    ),
    "so-many": r"\b(?:so|as) (?:many|much|few|far|large|long|sure|probable|deep)\b",
    "dated": (
        r"\b(?:beside|but for|hardly|nor|else|unless (?:told|said|named|given)|whatever|again and again|some (?=\d)"
        r"|such(?! as\b)|thus|hence|upon|lest|whom|wherein|meanwhile|seldom|in (?:the )?place of|anew)\b"
    ),
    "too-alone": r", too\b|\balone\b",
    "private": (
        r"\b(?:stands?|lies?|lay|laid|hangs?|believed?|blind|knows?|house|rooms?|floors?|taken apart|put together"
        r"|t(?:ell|old)s? apart|(?:above|below) the line|made[- ]up|wears? off|doubts?|worthless|cannot tell)\b"
    ),
    "impersonal": (
        rf"\b(?:it|which) (?:is|was) (?:\w+ed|said|told|known|not known|found)\b(?: whether| that| how| which|)"
        rf"|\b{BE} looked\b|\b{BE} (?:dealt|gone)\b"
    ),
    "passive": rf"\b{BE} (?:\w+ly |not |also |only |never |then )?{PARTICIPLE}\b",
    "long": r"",  # sentences, counted in words
    "splice": r";",
}
EXACT_CASE = {"of-front", "fronted", "negation"}
HABITS = {name: re.compile(text, 0 if name in EXACT_CASE else re.IGNORECASE) for name, text in PATTERNS.items()}
HABITS["riddle"] = re.compile(PATTERNS["riddle"])


class Text(NamedTuple):
    """A text that people read: its corpus, its file and line, and its words without code and markup."""

    corpus: str
    path: str
    line: int
    words: str


class Counts(NamedTuple):
    """Hits by habit and corpus, and words by corpus."""

    hits: Counter[tuple[str, str]]
    words: Counter[str]


def texts() -> Iterator[Text]:
    """Yield every text of the project."""
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]):
        if path.name not in GENERATED:
            yield from paragraphs(path)
    for path in sorted((ROOT / "src").rglob("*.py")):
        source, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        yield from strings(ast.parse(source), name)
        yield from comments(source, name)


def paragraphs(path: Path) -> Iterator[Text]:
    """Yield the paragraphs, bullets and table rows of a page, without code and generated tables."""
    name = str(path.relative_to(ROOT))
    fenced = generated = False
    block, start = "", 0
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
        if line.startswith("<!-- "):
            generated = "end of" not in line and "written by" in line
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        code = fence or fenced or generated or line.startswith("    ")
        ends = code or not line.strip()
        if (ends or line.lstrip()[:2] in {"- ", "| ", "# "} or line.startswith(("#", "|"))) and block:
            yield Text("docs", name, start, clean(block))
            block = ""
        if ends:
            continue
        start = start if block else number
        block = f"{block} {line.strip()}" if block else line.strip().lstrip("-|# ")


def strings(tree: ast.Module, name: str) -> Iterator[Text]:
    """Yield docstrings up to their examples, and the strings that may be printed: those with two spaces or more."""
    passed: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (words := ast.get_docstring(node)):
            docstring = node.body[0]
            assert isinstance(docstring, ast.Expr)
            passed.add(id(docstring.value))
            yield Text("docstrings", name, docstring.lineno, clean(re.split(r"\n\s*>>> ", words)[0]))
        if isinstance(node, ast.JoinedStr):
            passed.update(id(part) for part in ast.walk(node) if part is not node)
            words = "".join(str(part.value) if isinstance(part, ast.Constant) else "N" for part in node.values)
            if words.count(" ") >= 2:
                yield Text("printed", name, node.lineno, clean(words))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in passed:
            continue
        if node.value.count(" ") >= 2 and not re.search(r"[{}<>]|\\\w|datum|\bpl\.", node.value):
            yield Text("printed", name, node.lineno, clean(node.value))


def comments(source: str, name: str) -> Iterator[Text]:
    """Yield the comments of a module, without those for tools."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not re.match(r"# (?:fmt|noqa|type:|---)", token.string):
            yield Text("comments", name, token.start[0], clean(token.string.lstrip("# ")))


def clean(text: str) -> str:
    """Return the text without code, addresses and markup."""
    text = re.sub(r"``[^`]*``|`[^`]*`|https?://\S+|\]\([^)]*\)", " ", text)
    return re.sub(r"\s+", " ", text.replace("**", "").replace("[", "")).strip()


def hits(habit: str, text: Text) -> int:
    """Return how often a habit occurs in a text."""
    if habit == "riddle":
        return int(text.corpus == "docstrings" and bool(HABITS[habit].match(text.words)))
    if habit == "long":
        return sum(len(sentence.split()) > MOST_WORDS for sentence in re.split(r"(?<=[.!?:]) ", text.words))
    return len(HABITS[habit].findall(text.words))


def count() -> Counts:
    """Count every habit in every corpus."""
    counts = Counts(Counter(), Counter())
    for text in texts():
        counts.words[text.corpus] += len(text.words.split())
        counts.hits.update({(habit, text.corpus): hits(habit, text) for habit in HABITS})
    return counts


def ceilings() -> dict[str, dict[str, float]]:
    """Return the highest rates per 1,000 words that are allowed, by habit and corpus."""
    stored: dict[str, dict[str, float]] = json.loads(CEILINGS.read_text(encoding="utf-8"))
    return stored


def rate(counts: Counts, habit: str, corpus: str) -> float:
    """Return the hits per 1,000 words, rounded up to two decimals."""
    return math.ceil(100_000 * counts.hits[habit, corpus] / max(counts.words[corpus], 1)) / 100


def excesses(counts: Counts) -> list[str]:
    """Return one line per rate above its ceiling."""
    return [
        f"{habit} in {corpus}: {rate(counts, habit, corpus)} per 1,000 words, at most {most}"
        for habit, by_corpus in ceilings().items()
        for corpus, most in by_corpus.items()
        if rate(counts, habit, corpus) > most
    ]


def show(habit: str, corpora: list[str]) -> None:
    """Print every text with a habit."""
    for text in texts():
        if text.corpus in (corpora or CORPORA) and hits(habit, text):
            print(f"{text.path}:{text.line}: {text.words[:160]}")


def print_table(counts: Counts) -> None:
    """Print counts, and rates per 1,000 words, by habit and corpus."""
    print(f"{'habit':<12}" + "".join(f"{corpus:>20}" for corpus in CORPORA))
    print(f"{'words':<12}" + "".join(f"{counts.words[corpus]:>20,}" for corpus in CORPORA))
    for habit in HABITS:
        cells = ((counts.hits[habit, corpus], counts.words[corpus]) for corpus in CORPORA)
        print(f"{habit:<12}" + "".join(f"{number:>12,} {1000 * number / words:>7.1f}" for number, words in cells))


def write(counts: Counts) -> None:
    """Lower the ceilings to the rates; a ceiling is never raised."""
    before = ceilings() if CEILINGS.exists() else {}
    lowered = {
        habit: {
            corpus: min(now := rate(counts, habit, corpus), before.get(habit, {}).get(corpus, now))
            for corpus in CORPORA
        }
        for habit in HABITS
        if habit not in UNLIMITED
    }
    CEILINGS.write_text(json.dumps(lowered, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Count, show or write; return 1 if a rate exceeds its ceiling."""
    match arguments:
        case ["--show", habit, *corpora] if habit in HABITS:
            show(habit, corpora)
            return 0
        case [] | ["--write"]:
            counts = count()
            print_table(counts)
            if arguments:
                write(counts)
            over = excesses(counts)
            print("\n".join(over))
            return 1 if over else 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
