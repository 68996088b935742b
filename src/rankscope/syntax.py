"""Messages in the syntax of the caller: they are written with options (``--depth 20``), and translated to keywords for Python."""

from __future__ import annotations

import re

MESSAGE_STYLE = {"options": False}  # the command line sets it while it runs
VALUES: dict[str, tuple[str, ...]] = {
    "test": ("t", "betting", "anytime"), "correction": ("holm",), "engine": ("local", "spark"),
}  # fmt: skip
ONE_EACH = frozenset({"metrics", "covariates", "guardrails"})  # keywords in the plural; their options are repeated
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
    name, value, other = match[1].replace("-", "_"), match[2] or "", match[3]
    rest = match[0].partition(f"--{match[1]}")[2]
    if name == "query" and value:
        return f"{name}={value!r}"
    if (value[:1] in {"'", *"0123456789"} and value) or value.isupper():
        return f"{name}={value}" + (f" or {other}" if other else "")
    if "." in value:
        return f'{name}="{value}"' + (f" or {other}" if other else "")
    if value in VALUES.get(name, ()):
        also = f' or "{other}"' if other in VALUES[name] else f" or {other}" if other else ""
        return f'{name}="{value}"{also}'
    return (f"{name}=True" if name in FLAGS else f"{name}=") + rest


def by_caller(command: str, call: str) -> str:
    """Return the command or the call of Python, in the syntax of the caller."""
    return command if MESSAGE_STYLE["options"] else call


def option_named(name: str) -> str:
    """Return a keyword in the syntax of the caller."""
    flag = name.removesuffix("s") if name in ONE_EACH else name
    return by_caller(f"--{flag.replace('_', '-')}", name)
