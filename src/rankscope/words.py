"""Text of numbers, p-values, intervals, shares, counts, lists and hints: one format each.

These functions return text for sentences, with a true minus sign as in charts. Tables keep the hyphen as their minus sign: their text
is copied into spreadsheets and read back by other programs, which take only that one for a number. ``show`` sees to it for
numbers in cells, ``cell`` and ``in_table`` do it for text that goes into one. JSON and CSV hold plain numbers, never these texts.

Messages are written with options (``--depth 20``); ``in_caller_syntax`` translates them to keywords for Python.
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
    """The decimals with which a size of any scale shows two digits that count; at least one below 100."""
    if not NOTHING < size < math.inf:
        return 3
    return max(min(1 - math.floor(math.log10(size)), 12), 1 if size < 100 else 0)


def interval(
    low: float, high: float, sign: bool = False, digits: int | None = None, between: str = " to ", apart: tuple[float, ...] = ()
) -> str:  # fmt: skip
    """The two ends of an interval, with more digits if an end would read like a number in ``apart`` that it differs from."""
    most = MOST_DIGITS if digits is None else digits + MOST_DIGITS
    while apart and _reads_alike((low, high), apart, digits) and (3 if digits is None else digits) < most:
        digits = (3 if digits is None else digits) + 1
    return f"{number(low, sign, digits)}{between}{number(high, sign, digits)}"


def interval_of_change(low: float, high: float, apart: tuple[float, ...] = (0.0,)) -> str:
    """The two ends of a relative change, in percent.

    >>> interval_of_change(-0.345, 1.896)
    '−34.5% to +189.6%'
    """
    digits = decimals_of_changes(low, high)
    ends = tuple(100 * end for end in apart)
    return f"{interval(100 * low, 100 * high, sign=True, digits=digits, between='% to ', apart=ends)}%"


def _reads_alike(ends: tuple[float, float], others: tuple[float, ...], digits: int | None) -> bool:
    """True if an end and another number read the same and are not, beyond rounding."""
    return any(
        abs(end - other) > NOTHING and number(end, True, digits) == number(other, True, digits) for end in ends for other in others
    )  # fmt: skip


def amount(value: float) -> str:
    """A grade, a cost, a limit: a whole number without decimals, any other with four digits."""
    if not math.isfinite(value):
        return number(value)
    size = abs(value)
    if float(size).is_integer() and size < 1e15:
        text = f"{int(size):,}"
    else:
        text = f"{size:,.1f}" if 1000 <= size < 1e15 else f"{size:.4g}"
    return f"{MINUS}{text}" if value < 0 else text


def decimals_of_amounts(values: Iterable[float]) -> int:
    """The decimals of amounts in one column: the largest has four digits. None if all are whole.

    >>> [decimals_of_amounts(values) for values in ([3.5, 45.03], [0.5, 0.01234], [1250.25], [45, 3])]
    [2, 4, 1, 0]
    """
    sizes = [abs(value) for value in values if math.isfinite(value)]
    if all(size.is_integer() for size in map(float, sizes)):
        return 0
    return min(max(3 - math.floor(math.log10(max(sizes))), 1), 12)


def cell(value: float, digits: int = 4, sign: bool = False) -> str:
    """Return a number as text in a table: fixed decimals, the hyphen as minus sign."""
    return in_table(number(value, sign, digits))


def in_table(text: str) -> str:
    """The text of a number as a table has it: with the hyphen as minus sign, which other programs can read."""
    return text.replace(MINUS, "-")


def p_value(value: float) -> str:
    """A p-value in a sentence: two digits, three decimals at most."""
    if math.isnan(value):
        return "no p-value"
    return "p < 0.001" if value < 0.001 else f"p = {p_cell(value)}"


def p_cell(value: float) -> str:
    """A p-value in a table, without its letter."""
    digits = 3 if value < 0.1 else 2
    return UNDEFINED if math.isnan(value) else "<.001" if value < 0.001 else f"{value:.{digits}f}"


def percent(level: float) -> str:
    """A level that someone chose, with all of its digits."""
    return f"{100 * level:.8g}%"


def share(part: float, digits: int = 0) -> str:
    """Return a measured share, rounded; it reads 0% or 100% only if it is exactly that."""
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
    """Return a number of days since 1970-01-01 as a date."""
    return str(EPOCH + timedelta(number))


def day_number(day: date) -> int:
    """Return a date as the number of days since 1970-01-01, which charts draw."""
    return (day - EPOCH).days


def factor(ratio: float) -> str:
    """Return a ratio as text, like 5.6x."""
    if ratio < 0.95:
        return f"{ratio:.2g}x"
    return f"{ratio:,.0f}x" if ratio >= 99.95 else f"{ratio:.1f}".removesuffix(".0") + "x"


def finite(value: T) -> T | None:
    """Return a value for JSON: None (null) for a number that is undefined or infinite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def count(number: float) -> str:
    """A count, with separators of thousands."""
    return f"{number:,.0f}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a count and its noun; ``many`` is needed for nouns that ``plural`` does not know."""
    return f"{count(number)} {one if number == 1 else many or plural(one)}"


def plural(noun: str) -> str:
    """Several of a thing; of a noun with others before it the last one changes."""
    if noun.endswith("y") and noun[-2:-1] not in {*"aeiou"}:
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def agree(number: int, verb: str) -> str:
    """A verb that goes with a count, from its form for one."""
    many = f"{verb[:-3]}y" if verb.endswith("ies") else verb.removesuffix("s")
    return verb if number == 1 else VERBS.get(verb, many)


def rounded(number: int, up: bool = False) -> str:
    """Return a count rounded to two digits, upwards with ``up``."""
    step = 10 ** max(len(str(abs(number))) - 2, 0)
    return count(-(-number // step) * step if up else round(number / step) * step)


def listing(names: Iterable[object], most: int = 6, last: str = "and") -> str:
    """Return names in a sentence; of more than ``most`` the rest is counted."""
    parts = [str(name) for name in names]
    if len(parts) > most + 1:
        parts = [*parts[:most], f"{count(len(parts) - most)} more"]
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)


def sample(ids: Iterable[str], total: int | None = None, most: int = 3, none: str = "none") -> str:
    """Return a few ids, long ones cut, with dots if there are more; ``total`` is their number."""
    known = list(ids)
    text = ", ".join(short(one) for one in known[:most]) or none
    return text + (" ..." if (len(known) if total is None else total) > most else "")


def choices(values: Iterable[object]) -> str:
    """The values that an option takes, as they are written in Python."""
    return ", ".join(map(repr, values))


def short(text: str, most: int = 40) -> str:
    """Return a name, cut if it is very long."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def quote(text: str, most: int = 100) -> str:
    """Return a piece of input in quotes, cut if it is very long."""
    return repr(short(text, most))


def nearest(name: str, names: Iterable[str], close: float = 0.6) -> str | None:
    """Return the name nearest to a misspelled one (or to anything else in its place), ignoring case; None if no name is similar."""
    from difflib import get_close_matches  # only an error needs it

    by_folded = {other.casefold(): other for other in reversed(list(names))}
    matches = get_close_matches(str(name).casefold(), by_folded, n=1, cutoff=close)
    return by_folded[matches[0]] if matches else None


def hint(
    name: str, names: Iterable[str], otherwise: str | None = None, most: int = 10, offer: Callable[[str], str] = str
) -> str:
    """Return the end of a message about an unknown name: the nearest name, ``otherwise``, or the known names.

    ``offer`` returns the suggested text for a name.
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
    """True if a text is a number: ASCII digits, without underscores, as in every format."""
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
    """Return a number, or a percentage as a share of 1, and whether it was a percentage; otherwise None."""
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
    """A name without case, blanks, hyphens and underscores: ``userId``, ``user-id`` and ``User ID`` are ``user_id``."""
    return re.sub(r"[ _-]", "", name.strip().casefold())


MESSAGE_STYLE = {"options": False}  # the command line sets it while it runs
OPTION_VALUES: dict[str, tuple[str, ...]] = {
    "test": ("t", "betting", "anytime"), "correction": ("holm",), "engine": ("local", "spark"), "covariates": ("none",),
}  # fmt: skip
ONE_EACH = frozenset(
    {"metrics", "covariates", "guardrails", "limits"}
)  # keywords in the plural; their options are repeated
RENAMED = {"from": "start", "to": "end"} | {name.removesuffix("s"): name for name in ONE_EACH}  # keywords of options
FLAGS = frozenset({"details", "per_query", "list", "distribution", "bayes", "all_pairs"})
METHODS = {
    "--format json": "to_json()", "--format csv": "to_csv()", "evaluate --per-query": 'scores.to_csv("per_query")',
    "--per-query": 'scores.to_csv("per_query")', "--worklist judge.csv": 'save("judge.csv", table="to_judge")',
}  # fmt: skip
OPTION = re.compile(
    r"(?<![\w-])(?:evaluate )?--(?!long\b)([a-z][a-z-]*[a-z])"
    r"(?: ((?<=--query )\S+|'[^']*'|\d[\d.]*(?![\w-])|[\w-]+\.[a-z]+\b|[\w-]+)(?: or (\w[\w-]*))?)?"
)
COMMAND = re.compile(r"`?rankscope [a-z]+(?: [^,;:()]*?)?(?=[,;:()]|\.(?:\s|$)|$)")  # shell commands stay as they are


def in_caller_syntax(text: str) -> str:
    """Return a message with Python's keywords in place of options, unless the command line runs; whole commands stay."""
    if "--" not in text or MESSAGE_STYLE["options"]:
        return text
    whole = [match.span() for match in COMMAND.finditer(text)]
    return OPTION.sub(
        lambda match: match[0] if any(a <= match.start() < b for a, b in whole) else _keyword(match), text
    )


def _keyword(match: re.Match[str]) -> str:
    for option, method in METHODS.items():
        if match[0].startswith(option):
            return method + match[0].removeprefix(option)
    name, value, other = RENAMED.get(match[1], match[1].replace("-", "_")), match[2] or "", match[3]
    rest = match[0].partition(f"--{match[1]}")[2]
    if name == "query" and value:
        return f"{name}={value!r}"
    if (value[:1] in {"'", *"0123456789"} and value) or value.isupper():
        return f"{name}={value}" + (f" or {other}" if other else "")
    if "." in value:
        return f'{name}="{value}"' + (f" or {other}" if other else "")
    if value in OPTION_VALUES.get(name, ()):
        also = f' or "{other}"' if other in OPTION_VALUES[name] else f" or {other}" if other else ""
        return f'{name}="{value}"{also}'
    return (f"{name}=True" if name in FLAGS else f"{name}=") + rest


def by_caller(command: str, call: str) -> str:
    """Return the command or the call of Python, in the syntax of the caller."""
    return command if MESSAGE_STYLE["options"] else call


def option_named(name: str) -> str:
    """Return a keyword in the syntax of the caller."""
    flag = name.removesuffix("s") if name in ONE_EACH else name
    return by_caller(f"--{flag.replace('_', '-')}", name)
