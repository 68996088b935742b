"""Blocks on a terminal: widths, folding, turning, parting."""

from __future__ import annotations

from typing import Any

from rankscope.blocks import Code, Column, Facts, Heading, Note, Notes, Paragraph, Table, ValueRange
from rankscope.show.terminal import render


def board(runs: Any, metrics: Any, name: Any = "run{}") -> Any:
    columns = (Column("run"), *(Column(f"metric{j}@10", "value") for j in range(metrics)))
    rows = tuple((name.format(i), *(i + j / 100 for j in range(metrics))) for i in range(runs))
    return Table(columns, rows, turns=True)


def lines(table: Any, width: Any = 80) -> Any:
    return render([table], width).splitlines()


def test_few_metrics_stand_side_by_side() -> None:
    shown = lines(board(24, 5))
    assert len(shown) == 25
    assert shown[0].split() == ["run", *(f"metric{j}@10" for j in range(5))]


def test_many_metrics_turn_the_table() -> None:
    shown = lines(board(3, 40))
    assert len(shown) == 41
    assert shown[0].split() == ["run0", "run1", "run2"]
    assert shown[1].split() == ["metric0@10", "0.0000", "1.0000", "2.0000"]


def test_one_run_with_the_usual_metrics_stays_upright() -> None:
    assert len(lines(board(1, 6))) == 2
    assert len(lines(board(1, 12))) == 13


def test_what_fits_neither_way_is_parted() -> None:
    shown = lines(board(24, 40))
    assert max(map(len, shown)) <= 80
    assert sum("run" in line for line in shown) > 1
    values = {cell for line in shown for cell in line.split() if "." in cell}
    assert {"23.3900", "0.0000", "23.0000"} <= values


def test_long_names_are_folded_and_lose_nothing() -> None:
    name = "an-extremely-long_name.of-a-run-with-many-parts-and-more-{}"
    shown = lines(board(2, 4, name))
    assert max(map(len, shown)) <= 80
    assert "".join(line[1:34].split("  ")[0].strip() for line in shown[1:]).startswith(
        "an-extremely-long_name.of-a-run-"
    )
    assert shown[1].endswith("0.0300")


def test_every_width_is_kept_where_it_can_be() -> None:
    for width in (40, 60, 80, 100, 200):
        for runs, metrics in ((1, 1), (1, 40), (24, 5), (24, 40), (3, 7), (40, 8)):
            for name in ("r{}", "a-long-name-of-a-run-{}", "名前名前名前名前名前名前{}"):
                assert max(map(len, lines(board(runs, metrics, name), width))) <= width


def test_undefined_counts_and_best() -> None:
    table = Table(
        (Column("run"), Column("AUC", "value"), Column("NumRet", "count")),
        (("a", None, 12345.0), ("b", 0.5, 1)),
        best=frozenset({(1, 1)}),
    )
    assert [line.split() for line in lines(table)] == [
        ["run", "AUC", "NumRet"],
        ["a", "-", "12,345"],
        ["b", "0.5000", "1"],
    ]
    assert "\x1b[1m0.5000\x1b[0m" in render([table], colour=True)


def test_wide_signs_are_measured() -> None:
    table = Table((Column("run"), Column("x", "value")), (("名前", 1.0), ("ab", 2.0)))
    assert lines(table)[1] == " 名前  1.0000"
    assert lines(table)[2] == " ab    2.0000"


def test_running_text_in_a_table_takes_what_is_left() -> None:
    table = Table((Column("name"), Column("what", wraps=True)), (("a", "word " * 40),))
    shown = lines(table)
    assert max(map(len, shown)) <= 80
    assert " ".join(" ".join(shown).split()).count("word") == 40


def test_what_a_terminal_would_act_on_is_escaped() -> None:
    table = Table((Column("run"), Column("x\x07", "value")), (("a\x1b[31m\tb\nc", 1.0),))
    text = render([Heading("\x1b"), Paragraph("\x9b"), Notes((Note("q\n1\x1b"),)), table])
    assert text == " \\x1b\n \\x9b\n ▲ q\\n1\\x1b.\n run               x\\x07\n a\\x1b[31m\\tb\\nc  1.0000\n"


def test_the_other_blocks() -> None:
    text = render(
        [
            Heading("About"),
            Paragraph("ties: a b · linear gain · " + "relevant: grade 1 · " * 4 + "end"),
            Notes((Note("something odd", "do this", "RS101"),)),
            Facts((("formula", "a / b"), ("x", "y"))),
            Code(("rankscope demo",)),
        ]
    )
    assert " ▲ something odd. Do this. RS101\n" in text
    assert " formula  a / b\n x        y\n" in text
    assert "   rankscope demo\n" in text
    assert all(line.rstrip().endswith(("·", "end")) for line in text.splitlines() if "·" in line)
    assert max(map(len, text.splitlines())) <= 80


def ranged(runs: int, metrics: int, upper: float = 0.1, **more: Any) -> Any:
    columns = (Column("run"), *(Column(f"metric{j}", "value") for j in range(metrics)))
    rows: Any = tuple((f"run{i}", *(ValueRange(0.5, 0.4, 0.5 + upper) for _ in range(metrics))) for i in range(runs))
    return Table(columns, rows, turns=True, note="what ± means", unranged="what has no room", **more)


def test_intervals_stand_beside_their_values() -> None:
    assert [line.split() for line in lines(ranged(1, 2))] == [
        ["run", "metric0", "metric1"],
        ["run0", "0.5000", "±0.1000", "0.5000", "±0.1000"],
        ["what", "±", "means"],
    ]
    assert "0.5000 -0.1000 +0.2000" in lines(ranged(1, 2, 0.2))[1]


def test_a_table_turns_to_show_intervals() -> None:
    shown = lines(ranged(2, 6))
    assert shown[0].split() == ["run0", "run1"]
    assert shown[1].split() == ["metric0", "0.5000", "±0.1000", "0.5000", "±0.1000"]
    assert len(shown) == 8
    assert lines(ranged(2, 6), 130)[0].split()[0] == "run"


def test_six_runs_have_all_intervals_in_parts_that_make_a_screen() -> None:
    shown = lines(ranged(6, 6))
    assert max(map(len, shown)) <= 80
    assert sum(line.count(" ±") for line in shown) == 36 + 1  # of each value, and the note
    assert sum(line.startswith(" run ") for line in shown) == shown.count("") + 1 == 2
    assert "what has no room" not in " ".join(shown)
    assert len(shown) <= 40


def test_the_first_columns_have_intervals_where_there_is_no_room_for_all() -> None:
    shown = lines(ranged(24, 6))
    assert len(shown) == 27
    assert shown[0].split() == ["run", *(f"metric{j}" for j in range(6))]
    assert shown[1].count("±") == 2
    assert shown[-2:] == [" what ± means", " what has no room"]


def test_intervals_give_way_where_there_is_room_for_none() -> None:
    shown = lines(ranged(24, 7), 66)
    assert "±" not in "".join(shown)
    assert shown[-1] == " what has no room"
    for width in (40, 60, 80, 100, 200):
        for runs, metrics in ((1, 1), (1, 40), (24, 5), (24, 40), (3, 7), (40, 8)):
            assert max(map(len, lines(ranged(runs, metrics, 0.2), width))) <= width


def test_intervals_line_up_below_each_other() -> None:
    table = Table(
        (Column("run"), Column("m", "value")),
        (("a", ValueRange(10.5, 10.0, 11.0)), ("b", 0.5), ("c", ValueRange(0.5, 0.4, 0.55)), ("d", None)),
        best=frozenset({(1, 1)}),
    )
    assert lines(table) == [
        " run  m",
        " a    10.5000 ±0.5000",
        " b     0.5000",
        " c     0.5000 -0.1000 +0.0500",
        " d          -",
    ]
