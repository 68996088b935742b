"""Write the table of tasks in docs/advise.md from their declarations.

Run without arguments; ``tests/verbs/advise/test_advise.py`` fails where the page is out of date.
"""

from __future__ import annotations

from pathlib import Path

from rankscope.verbs.advise.situation import CONDITIONS
from rankscope.verbs.advise.tasks import SHARED_LAST, TASKS, WITH_ASPECTS, Pick

PAGE = Path(__file__).resolve().parents[1] / "docs" / "advise.md"
START, END = "<!-- tasks: written by tools/write_advise_page.py -->", "<!-- end of tasks -->"


def page() -> str:
    """The whole page, its table fresh."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    return f"{before}{START}\n{table()}{END}{rest.partition(END)[2]}"


def table() -> str:
    """The tasks, then what the conditions of their metrics mean."""
    rows = [
        f"| `{task.name}` | {task.about} | {task.k} | {'; '.join(map(_pick, task.picks))} | {', '.join(task.also)} |\n"
        for task in TASKS
    ]
    picks = [pick for task in TASKS for pick in task.picks] + [*SHARED_LAST, *WITH_ASPECTS]
    words = sorted({word.removeprefix("not ") for pick in picks for word in pick.when})
    meanings = [f"| {word} | {CONDITIONS[word][0]} |\n" for word in words]
    return (
        "\n| task | what it is | k | metrics, the first that applies being the primary one | also called |\n|---|---|---|---|---|\n"
        + "".join(rows)
        + f"\nAfter these, for every task: {'; '.join(map(_pick, SHARED_LAST))}. Where documents have grades by subtopic, instead of "
        f"these: {'; '.join(map(_pick, WITH_ASPECTS))}.\n\n| condition | meaning |\n|---|---|\n"
        + "".join(meanings)
        + "\n"
    )


def _pick(pick: Pick) -> str:
    args = f"({pick.args.replace('{top}', 'top')})" if pick.args else ""
    at = {"": "", "uncut": ""}.get(pick.at, f"@{pick.at}")
    return f"`{pick.metric}{args}{at}`" + (f" ({', '.join(pick.when)})" if pick.when else "")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
