"""The styles and scripts of a page, data for them, and the content security policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from rankscope import words

STYLES = ("base.css", "page.css", "blocks.css", "tables.css", "charts.css")
FIRST = "theme.js"  # before anything is shown, so that no page flashes in the wrong theme
SCRIPTS = ("core.js", "exports.js", "tables.js", "page.js")
CHART_SCRIPTS = ("tooltip.js", "unpack.js", "charts.js")
EXPLORER_STYLES = ("explorer.css", "marks.css", "whatif.css")
EXPLORER_SCRIPTS = (
    "whatif_metrics.js", "whatif_state.js", "whatif_words.js", "whatif_list.js", "whatif_table.js", "whatif.js",
    "notes.js", "explorer_data.js", "explorer_list.js", "explorer_export.js", "explorer_story.js", "explorer_ranks.js", "explorer_marks.js", "judging.js",
    "explorer_links.js", "explorer_query.js", "explorer.js",
)  # fmt: skip
LAST_STYLES = ("print.css",)

_COMMENT = re.compile(r"//|/\*.*\*/$")
_BLOCK, _TRAILING = (
    re.compile(r"^\s*/\*\*?\n(?:\s*\*.*\n)+", re.MULTILINE),
    re.compile(r"(?<=[;{},)\]])\s+(?:// [^`]*|/\* [^`]*\*/)$"),
)
# of a style sheet; a space before a colon means something
_ROOM = re.compile(r"(?<=[:;{},>])\s+|\s+(?=[{}>])|;(?=\s*})")
# text that would end a script or a line of it, and lone surrogates, which no file can hold
_UNSAFE = re.compile("[<\u2028\u2029\ud800-\udfff]")
_TEXT = re.compile(r"[\"'`/]")  # possibly text or a regular expression, in which every space counts
_SPACED = re.compile(r"\s*(===|!==|=>|&&|\|\||[=<>?:,;{}()])\s*")


@cache
def static(name: str) -> str:
    """A file of the folder ``static`` as a page carries it: without indents, empty lines and comments, a style sheet without spaces."""
    text = _BLOCK.sub("", files(__package__).joinpath("static", name).read_text(encoding="utf-8"))
    lines = [stripped for line in text.split("\n") if (stripped := _TRAILING.sub("", line.strip()))]
    kept = [line for line in lines if not _COMMENT.match(line)]
    if name.endswith(".css"):
        kept = [_ROOM.sub("", line) for line in kept]
    else:
        kept = [line if _TEXT.search(line) else _SPACED.sub(r"\1", line) for line in kept]
    return "\n".join(kept) + "\n"


def policy(scripts: Iterable[str]) -> str:
    """The content security policy of a page that runs these scripts and loads nothing.

    >>> policy(["1"])[:84]
    "default-src 'none'; script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"
    """
    hashes = " ".join(dict.fromkeys(f"'sha256-{_hash(script)}'" for script in scripts)) or "'none'"
    rest = "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {hashes}; {rest}"


@cache
def packed(script: str) -> str:
    """A long script as a page carries it: compressed, to be unpacked and run by another (``unpack.js``); its hash is to be in the policy.

    >>> zlib.decompress(base64.b64decode(packed("let a = 1;")))
    b'let a = 1;'
    """
    return base64.b64encode(zlib.compress(script.encode(), 9)).decode("ascii")


@cache
def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def as_data(thing: Any) -> str:
    r"""A value as compact JSON that is safe inside ``<script type="application/json">``; NaN is null.

    >>> as_data({"id": "</script>", "value": float("nan")})
    '{"id":"\\u003c/script>","value":null}'
    """
    return safe(json.dumps(_finite(thing), ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def safe(text: str) -> str:
    r"""JSON that cannot end its script element or a line of it; lone surrogates are escaped.

    >>> safe('"</script>"')
    '"\\u003c/script>"'
    """
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _finite(thing: Any) -> Any:
    if isinstance(thing, float):
        return words.finite(float(thing))
    if isinstance(thing, dict):
        return {key: _finite(value) for key, value in thing.items()}
    if isinstance(thing, Sequence) and not isinstance(thing, str):
        return [_finite(value) for value in thing]
    return thing
