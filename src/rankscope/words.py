"""Text of numbers, p-values, intervals, shares, counts, lists and hints: one format each.

These functions return text for sentences, with a true minus sign as in charts. Tables keep the hyphen as their minus sign: their text
is copied into spreadsheets and read back by other programs, which take only that one for a number. ``show`` sees to it for
numbers in cells, ``cell`` and ``in_table`` do it for text that goes into one. JSON and CSV hold plain numbers, never these texts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import TypeVar

T = TypeVar("T")
MINUS = "\N{MINUS SIGN}"
UNDEFINED = "-"  # for a missing value
MOST_DIGITS = 6  # extra digits that separate an end of an interval from another number
NOTHING = 5e-13  # a difference below this is of rounding, and written as 0
EPOCH = date(1970, 1, 1)
VERBS = {"is": "are", "has": "have", "was": "were", "does": "do", "goes": "go"}


def number(value: float, sign: bool = False, digits: int | None = None) -> str:
    """Return a number for a sentence: three decimals, more for smaller numbers, or ``digits`` decimals.

    ``sign`` writes the plus sign. A number that reads as zero has no sign.

    >>> number(0.0214), number(0.00042), number(-0.5, sign=True), number(1234.5), number(-2e-17, sign=True)
    ('0.021', '0.00042', '−0.500', '1,234.500', '0.000')
    >>> number(0.0214, digits=4), number(-0.00001, digits=4), number(float("nan")), number(float("-inf"))
    ('0.0214', '0.0000', '-', '−∞')
    >>> number(1e149)
    '1e+149'
    """
    if math.isnan(value):
        return UNDEFINED
    size = abs(value)
    if digits is None:  # three decimals, or two significant digits for smaller numbers
        digits = 3 if size >= 0.001 or size < NOTHING else min(1 - math.floor(math.log10(size)), 12)
    pattern = f",.{digits}f" if size < 1e15 else ".4g"  # no more digits than a number has
    text = f"{size:{pattern}}" if size < math.inf else "∞"
    if not any(digit in text for digit in "123456789∞"):
        return text
    return f"{MINUS if value < 0 else '+' if sign else ''}{text}"


def decimals_for(size: float) -> int:
    """The decimals with which a size of any scale shows two digits that count; at least one below 100.

    >>> [decimals_for(size) for size in (0.0028, 0.28, 2.8, 28, 280, 0)]
    [4, 2, 1, 1, 0, 3]
    """
    if not NOTHING < size < math.inf:
        return 3
    return max(min(1 - math.floor(math.log10(size)), 12), 1 if size < 100 else 0)


def interval(
    low: float, high: float, sign: bool = False, digits: int | None = None, between: str = " to ", apart: tuple[float, ...] = ()
) -> str:  # fmt: skip
    """The two ends of an interval, with more digits if an end would read like a number in ``apart`` that it differs from.

    >>> interval(-0.0123, 0.25), interval(-0.0123, 0.25, between=", ")
    ('−0.012 to 0.250', '−0.012, 0.250')
    >>> interval(0.004, 0.25, digits=2), interval(0.004, 0.25, digits=2, apart=(0.0,))
    ('0.00 to 0.25', '0.004 to 0.250')
    """
    most = MOST_DIGITS if digits is None else digits + MOST_DIGITS
    while apart and _reads_alike((low, high), apart, digits) and (3 if digits is None else digits) < most:
        digits = (3 if digits is None else digits) + 1
    return f"{number(low, sign, digits)}{between}{number(high, sign, digits)}"


def _reads_alike(ends: tuple[float, float], others: tuple[float, ...], digits: int | None) -> bool:
    """True if an end and another number read the same and are not, beyond rounding."""
    return any(
        abs(end - other) > NOTHING and number(end, True, digits) == number(other, True, digits) for end in ends for other in others
    )  # fmt: skip


def amount(value: float) -> str:
    """A grade, a cost, a limit: a whole number without decimals, any other with four digits.

    >>> amount(45.0), amount(1250), amount(1250.25), amount(0.01234), amount(2.5), amount(-1)
    ('45', '1,250', '1,250.2', '0.01234', '2.5', '−1')
    """
    if not math.isfinite(value):
        return number(value)
    size = abs(value)
    if float(size).is_integer() and size < 1e15:
        text = f"{int(size):,}"
    else:
        text = f"{size:,.1f}" if 1000 <= size < 1e15 else f"{size:.4g}"
    return f"{MINUS}{text}" if value < 0 else text


def cell(value: float, digits: int = 4, sign: bool = False) -> str:
    """Return a number as text in a table: fixed decimals, the hyphen as minus sign.

    >>> cell(0.51234), cell(-0.5, sign=True), cell(0.5, 2, sign=True), cell(-0.00001), cell(float("nan"))
    ('0.5123', '-0.5000', '+0.50', '0.0000', '-')
    """
    return in_table(number(value, sign, digits))


def in_table(text: str) -> str:
    """The text of a number as a table has it: with the hyphen as minus sign, which other programs can read.

    >>> in_table(interval(-0.012, 0.25, between=", "))
    '-0.012, 0.250'
    """
    return text.replace(MINUS, "-")


def p_value(value: float) -> str:
    """A p-value in a sentence: two digits, three decimals at most.

    >>> p_value(0.01234), p_value(0.00001), p_value(0.25), p_value(float("nan"))
    ('p = 0.012', 'p < 0.001', 'p = 0.25', 'no p-value')
    """
    if math.isnan(value):
        return "no p-value"
    return "p < 0.001" if value < 0.001 else f"p = {p_cell(value)}"


def p_cell(value: float) -> str:
    """A p-value in a table, without its letter.

    >>> p_cell(0.01234), p_cell(0.00001), p_cell(0.25), p_cell(float("nan"))
    ('0.012', '<.001', '0.25', '-')
    """
    digits = 3 if value < 0.1 else 2
    return UNDEFINED if math.isnan(value) else "<.001" if value < 0.001 else f"{value:.{digits}f}"


def percent(level: float) -> str:
    """A level that someone chose, with all of its digits.

    >>> percent(0.95), percent(0.999), percent(1 - 1e-5)
    ('95%', '99.9%', '99.999%')
    """
    return f"{100 * level:.8g}%"


def share(part: float, digits: int = 0) -> str:
    """Return a measured share, rounded; it reads 0% or 100% only if it is exactly that.

    >>> share(0.567), share(0.567, 1), share(0.0), share(0.001), share(0.9997), share(1.0), share(0.0001, 1)
    ('57%', '56.7%', '0%', '<1%', '>99%', '100%', '<0.1%')
    """
    if math.isnan(part):
        return UNDEFINED
    text, least = f"{part:.{digits}%}", 10.0 ** (-2 - digits)
    if 0 < part < 1 and text in {f"{0:.{digits}%}", f"{1:.{digits}%}"}:
        return f"<{least:.{digits}%}" if part < 0.5 else f">{1 - least:.{digits}%}"
    return text.replace("-", MINUS)


def relative(change: float, ends: tuple[float, ...] = ()) -> str:
    """Return a change as a share of its start, with its sign, and with the decimals that the ``ends`` of its interval have.

    >>> relative(0.13), relative(-0.0421), relative(0.0000123), relative(2e-9, (-1e-8, 3e-8))
    ('+13.0%', '−4.2%', '+0.0012%', '+0.0000002%')
    """
    digits = decimals_of_changes(*(ends or (change,)))
    return f"{number(100 * change, sign=True, digits=digits)}%" if not math.isnan(change) else UNDEFINED


def decimals_of_changes(*changes: float) -> int:
    """The decimals of changes in percent: one, or two digits that count if all are below 0.1%.

    >>> decimals_of_changes(0.13), decimals_of_changes(-3e-5, 2e-4), decimals_of_changes(1e-17, math.nan)
    (1, 3, 1)
    """
    size = 100 * max(map(abs, changes))
    return decimals_for(size) if 100 * NOTHING < size < 0.1 else 1


def day(number: int) -> str:
    """Return a number of days since 1970-01-01 as a date.

    >>> day(0), day(19727)
    ('1970-01-01', '2024-01-05')
    """
    return str(EPOCH + timedelta(number))


def day_number(day: date) -> int:
    """Return a date as the number of days since 1970-01-01, which charts draw.

    >>> day_number(date(2024, 1, 5))
    19727
    """
    return (day - EPOCH).days


def factor(ratio: float) -> str:
    """Return a ratio as text, like 5.6x.

    >>> factor(9.0), factor(5.61), factor(1234.5), factor(0.0123)
    ('9x', '5.6x', '1,234x', '0.012x')
    """
    if ratio < 0.95:
        return f"{ratio:.2g}x"
    return f"{ratio:,.0f}x" if ratio >= 99.95 else f"{ratio:.1f}".removesuffix(".0") + "x"


def finite(value: T) -> T | None:
    """Return a value for JSON: None (null) for a number that is undefined or infinite.

    >>> finite(0.5), finite(float("nan")), finite(float("inf")), finite(None), finite("bm25")
    (0.5, None, None, None, 'bm25')
    """
    return None if isinstance(value, float) and not math.isfinite(value) else value


def count(number: float) -> str:
    """A count, with separators of thousands.

    >>> count(7), count(8691), count(1204.0)
    ('7', '8,691', '1,204')
    """
    return f"{number:,.0f}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a count and its noun; ``many`` is needed for nouns that ``plural`` does not know.

    >>> (counted(1, "query"), counted(8691, "query"), counted(0, "document"), counted(2, "score is", "scores are"))
    ('1 query', '8,691 queries', '0 documents', '2 scores are')
    """
    return f"{count(number)} {one if number == 1 else many or plural(one)}"


def plural(noun: str) -> str:
    """Several of a thing; of a noun with others before it the last one changes.

    >>> plural("query"), plural("judged query"), plural("run"), plural("key"), plural("class")
    ('queries', 'judged queries', 'runs', 'keys', 'classes')
    """
    if noun.endswith("y") and noun[-2:-1] not in {*"aeiou"}:
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def agree(number: int, verb: str) -> str:
    """A verb that goes with a count, from its form for one.

    >>> agree(1, "differs"), agree(2, "differs"), agree(0, "is"), agree(3, "carries"), agree(2, "has")
    ('differs', 'differ', 'are', 'carry', 'have')
    """
    many = f"{verb[:-3]}y" if verb.endswith("ies") else verb.removesuffix("s")
    return verb if number == 1 else VERBS.get(verb, many)


def rounded(number: int, up: bool = False) -> str:
    """Return a count rounded to two digits, upwards with ``up``.

    >>> rounded(113), rounded(47), rounded(12345), rounded(12345, up=True)
    ('110', '47', '12,000', '13,000')
    """
    step = 10 ** max(len(str(abs(number))) - 2, 0)
    return count(-(-number // step) * step if up else round(number / step) * step)


def listing(names: Iterable[object], most: int = 6, last: str = "and") -> str:
    """Return names in a sentence; of more than ``most`` the rest is counted.

    >>> (listing(["AP"]), listing(["AP", "RR", "P@10"]), listing(["AP", "RR"], last="or"), listing("abcde", most=3))
    ('AP', 'AP, RR and P@10', 'AP or RR', 'a, b, c and 2 more')
    """
    parts = [str(name) for name in names]
    if len(parts) > most + 1:
        parts = [*parts[:most], f"{count(len(parts) - most)} more"]
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)


def sample(ids: Iterable[str], total: int | None = None, most: int = 3, none: str = "none") -> str:
    """Return a few ids, long ones cut, with dots if there are more; ``total`` is their number.

    >>> sample(["17", "21"]), sample(["17", "21", "40", "41"]), sample(["17"], 9, most=1), sample([])
    ('17, 21', '17, 21, 40 ...', '17 ...', 'none')
    """
    known = list(ids)
    text = ", ".join(short(one) for one in known[:most]) or none
    return text + (" ..." if (len(known) if total is None else total) > most else "")


def choices(values: Iterable[object]) -> str:
    """The values that an option takes, as they are written in Python.

    >>> choices(["rank", "docid", None])
    "'rank', 'docid', None"
    """
    return ", ".join(map(repr, values))


def short(text: str, most: int = 40) -> str:
    """Return a name, cut if it is very long.

    >>> short("bm25"), short("bm25-with-expansion", 8)
    ('bm25', 'bm25-wi…')
    """
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def quote(text: str, most: int = 100) -> str:
    """Return a piece of input in quotes, cut if it is very long.

    >>> quote("301 Q0"), quote("coronavirus", 6)
    ("'301 Q0'", "'coron…'")
    """
    return repr(short(text, most))


def nearest(name: str, names: Iterable[str], close: float = 0.6) -> str | None:
    """Return the name nearest to a misspelled one, ignoring case; None if no name is similar.

    >>> nearest("BM52", ["bm25", "dense"]), nearest("sparse", ["bm25"])
    ('bm25', None)
    """
    from difflib import get_close_matches  # only an error needs it

    by_folded = {other.casefold(): other for other in reversed(list(names))}
    matches = get_close_matches(name.casefold(), by_folded, n=1, cutoff=close)
    return by_folded[matches[0]] if matches else None


def hint(
    name: str, names: Iterable[str], otherwise: str | None = None, most: int = 10, offer: Callable[[str], str] = str
) -> str:
    """Return the end of a message about an unknown name: the nearest name, ``otherwise``, or the known names.

    ``offer`` returns the suggested text for a name.

    >>> hint("bm52", ["bm25", "dense"]), hint("sparse", ["bm25", "dense"]), hint("sparse", [])
    (', did you mean bm25?', ': there are bm25 and dense', '')
    """
    known = list(names)
    near = nearest(name, known)
    if near is not None:
        return f", did you mean {offer(near)}?"
    if otherwise is not None or not known:
        return otherwise or ""
    offers = dict.fromkeys(map(offer, known))
    return f": there {agree(len(offers), 'is')} {listing(offers, most)}"


def is_number(text: str | bytes) -> bool:
    """True if a text is a number: ASCII digits, without underscores, as in every format.

    >>> is_number("1e3"), is_number("1_000")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    plain = text.strip()
    return plain.isascii() and ("_" if isinstance(plain, str) else b"_") not in plain  # type: ignore[operator]


def as_number(value: object) -> float | None:
    """Return a value in memory as a number, or None if it is not a number. A text counts if a file could contain it."""
    try:
        return None if isinstance(value, str) and not is_number(value) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def as_share(value: object) -> tuple[float, bool] | None:
    """Return a number, or a percentage as a share of 1, and whether it was a percentage; otherwise None.

    >>> as_share("2%"), as_share(0.02), as_share("two")
    ((0.02, True), (0.02, False), None)
    """
    text = value.strip() if isinstance(value, str) else ""
    number = None if isinstance(value, bool) else as_number(text.removesuffix("%").strip() if text else value)
    return None if number is None else (number / 100, True) if text.endswith("%") else (number, False)


def printable(text: str) -> str:
    r"""Return text with escapes for every character that a terminal would act on or not show.

    >>> print(printable("red\x1b[31m"))
    red\x1b[31m
    """
    if text.isprintable():
        return text
    import unicodedata

    shown = (sign.isprintable() or unicodedata.category(sign) == "Zs" for sign in text)
    signs = zip(text, shown, strict=True)
    return "".join(sign if fits else sign.encode("unicode_escape").decode("ascii") for sign, fits in signs)


def plain_name(name: str) -> str:
    """A name without case, blanks, hyphens and underscores: ``userId``, ``user-id`` and ``User ID`` are ``user_id``.

    >>> plain_name("userId") == plain_name("user_id") == plain_name(" USER-ID")
    True
    """
    return re.sub(r"[ _-]", "", name.strip().casefold())
