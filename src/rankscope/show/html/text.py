"""Text and numbers as a page writes them."""

from __future__ import annotations

import math
import re

from rankscope.blocks import Note, Ranged, Tone, Value, Written
from rankscope.show.cells import printable

_ENDS = re.compile(r"^ +| +$")
JOINERS = ("\u200c", "\u200d")  # scripts need them to be spelled right, and they do no harm
TONES: dict[Tone, tuple[str, str]] = {
    "better": ("▲", "Better"),
    "worse": ("▼", "Worse"),
    "unclear": ("◆", "Cannot tell"),
    "same": ("=", "Same"),
    "plain": ("", ""),
}


def shown(text: str) -> str:
    r"""Text in which control characters, and what turns the direction of text around, stand as escapes.

    >>> print(shown("a\x00b"))
    a\x00b
    """
    if text.isprintable():
        return text
    return "".join(sign if sign in JOINERS else printable(sign) for sign in text)


def named(query_id: str) -> str:
    r"""An id as the explorer writes it: spaces at its ends, which would not show, stand as ␣.

    >>> print(named(" a b"))
    ␣a b
    """
    return _ENDS.sub(lambda spaces: "␣" * len(spaces[0]), shown(query_id))


def cut(text: str, room: int) -> str:
    """Text, with an ellipsis where it is longer than its room.

    >>> cut("coronavirus", 6), cut("ward", 6)
    ('coron…', 'ward')
    """
    return text if len(text) <= room else f"{text[: room - 1].rstrip()}…"


def exact(value: Value) -> str:
    """A number in full, as a script reads it; nothing where there is no value.

    >>> exact(0.1 + 0.2), exact(3), exact(None), exact(float("-inf"))
    ('0.30000000000000004', '3', '', '-Infinity')
    """
    if isinstance(value, Ranged | Written):
        value = value.value
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return repr(float(value))
    return str(int(value))


def told(note: Note) -> str:
    """A note as sentences, without its code.

    >>> told(Note("2 queries are missing", "score them as 0"))
    '2 queries are missing. Score them as 0.'
    """
    hint = f" {note.hint[:1].upper()}{note.hint[1:]}." if note.hint else ""
    return f"{note.text}.{hint}"


def slug(text: str) -> str:
    """Text as the name of a file: small letters and digits of ASCII, joined by hyphens.

    >>> slug("Scores of nDCG@10")
    'scores-of-ndcg-10'
    """
    kept = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in text.lower())
    return "-".join(kept.split())[:60]
