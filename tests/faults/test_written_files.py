"""Whatever a command writes is there in full or not at all: full disks, kills, interruptions, folders that are gone or locked.

All places are written by ``store.write_file``, which a law sees to, so that each fault is tried on three of them.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.faults.conftest import SOME, Ended, run
from tests.made.files import some
from tests.made.samples import sampled

import rankscope
from rankscope.cli.commands import FOLDER, PLACE, Option
from rankscope.cli.table import COMMANDS
from rankscope.errors import InputError
from rankscope.store import write_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits and signals of POSIX")

OLD = "what was there before\n"
# no byte may be written to a file, as on a disk that is full; pipes are not files
NO_ROOM = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
# all is in the file that will take the place of another, and not moved yet
KILLED = "import os; os.fsync = lambda _: os.kill(os.getpid(), 9)"
INTERRUPTED = """
import os
def interrupt(_): raise KeyboardInterrupt
os.fsync = interrupt"""


@dataclass(frozen=True)
class Place:
    """An option that names what is written: a file, or a folder."""

    command: str
    flag: str
    words: tuple[str, ...]
    name: str

    def __str__(self) -> str:
        return f"{self.command} {' '.join(self.words[:-1])}".strip()


def _name(command: str, flag: str) -> str:
    pages = {("report", "-o"), ("playground", "-o"), ("demo", "--report")}
    return (
        "out.html"
        if (command, flag) in pages
        else "out.xml"
        if flag == "--junit"
        else "out.csv"
        if flag in {"--worklist", "--to-weights"} or command == "simulate"
        else "out.jsonl"
        if command == "interleave"
        else "out.json"
    )


def places() -> list[Place]:
    """Every option of the table that names a file or a folder to write, and what else writes one."""
    out = []
    for command in COMMANDS:
        for option in command.parameters:
            if (
                isinstance(option, Option)
                and option.type in (PLACE, FOLDER)
                and option.name not in {"resume", "saved_model"}
            ):
                flag = option.opts[0]
                name = "out" if option.type is FOLDER else _name(command.name, flag)
                out.append(Place(command.name, flag, (flag, name), name))
    out.append(Place("evaluate", "-o", ("--partition", "1/2", "-o", "out.parquet"), "out.parquet"))
    out += [
        Place("metrics", "-o", ("--plot", "-o", f"out.{kind}"), f"out.{kind}") for kind in ("svg", "png", "pdf", "txt")
    ]
    return out


FILES = [place for place in places() if place.name != "out"]
FOLDERS = [place for place in places() if place.name == "out"]
THREE = [place for place in FILES if str(place) in {"evaluate -o", "playground -o", "evaluate --partition 1/2 -o"}]
assert {place.command for place in places()} == {command.name for command in COMMANDS} - {"completion"}
assert len(THREE) == 3


def written_elsewhere(source: str) -> list[int]:
    """Return the lines of a module that write a file by other means than ``store.write_file``, or append to one."""
    if not re.search(r"open\(|write_|sink_|copy", source):
        return []
    tree = ast.parse(source)
    in_memory = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.value) in {"io.BytesIO()", "BytesIO()"}
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    lines = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func).rpartition(".")[2]
        words = [node.value for node in call.args if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        target = ast.unparse(call.args[0]) if call.args else ""
        opens = name == "open" and any(set(mode) & set("wx+") and set(mode) <= set("wxrbt+") for mode in words)
        makes = name == "open" and "O_CREAT" in ast.unparse(call)
        saves = name in {"write_parquet", "write_ipc"} or (name in {"write_csv", "write_ndjson"} and bool(call.args))
        saves &= target not in in_memory
        if (
            opens
            or makes
            or saves
            or name.startswith("sink_")
            or name in {"write_text", "write_bytes", "copyfile", "copy2"}
        ):
            lines.append(call.lineno)
    return lines


def test_only_the_store_writes_files() -> None:
    root = Path(rankscope.__file__).parent
    modules = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in some(root.rglob("*.py"))}
    found = {name: lines for name, text in modules.items() if (lines := written_elsewhere(text))}
    assert set(found) == {"store.py"}, found


@pytest.mark.parametrize(
    "call",
    [
        pytest.param('Path("a").write_text("x")', id="text"),
        pytest.param('open("a", "w")', id="a file"),
        pytest.param('Path("a").open("wb")', id="a path"),
        pytest.param('os.open("a", os.O_WRONLY | os.O_CREAT)', id="a handle"),
        pytest.param('frame.write_parquet("a")', id="a frame"),
        pytest.param("frame.write_csv(path)", id="a frame as text"),
        pytest.param('shutil.copyfile("a", "b")', id="a copy"),
    ],
)  # fmt: skip
def test_a_file_written_elsewhere_is_seen(call: str) -> None:
    assert written_elsewhere(f"def f():\n    {call}") == [2]
    assert (
        written_elsewhere('stream = io.BytesIO()\nframe.write_parquet(stream)\nopen("a", "rb")\nopen("a", "a")') == []
    )


@pytest.fixture
def written(arguments: Any, tmp_path: Path) -> Callable[..., Ended]:
    """Runs what writes into a place."""
    return lambda place, before="": run([*arguments(place.command), *place.words], tmp_path, before)


@pytest.mark.parametrize("place", sampled(FILES, 3, always=THREE), ids=str)
def test_a_full_disk_leaves_what_was_there(place: Place, written: Any, tmp_path: Path) -> None:
    (tmp_path / place.name).write_text(OLD)
    found = written(place, NO_ROOM)
    assert found.code == 2
    assert found.faults == [f"{place.name}: cannot be written: File too large"]
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []
    assert (tmp_path / place.name).read_text() == OLD


@pytest.mark.parametrize("place", FOLDERS, ids=str)
def test_a_full_disk_leaves_no_half_of_a_file(place: Place, written: Any, tmp_path: Path) -> None:
    roomy = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))"  # for some files, not for all
    found = written(place, NO_ROOM if place.command == "report" else roomy)
    assert found.code == 2
    assert len(found.faults) == 1
    assert "File too large" in found.faults[0]
    assert list((tmp_path / "out").glob("*") if (tmp_path / "out").is_dir() else []) == []


@pytest.mark.parametrize("place", THREE, ids=str)
def test_a_kill_leaves_what_was_there(place: Place, written: Any, tmp_path: Path) -> None:
    (tmp_path / place.name).write_text(OLD)
    assert written(place, KILLED).code == -9
    assert (tmp_path / place.name).read_text() == OLD
    found = written(place)  # and what is left of the first try is in nobody's way
    assert (found.code, (tmp_path / place.name).read_bytes() != OLD.encode()) == (
        1 if place.command == "check" else 0,
        True,
    )
    assert list(tmp_path.glob(".rankscope-*.part")) == []


@pytest.mark.parametrize("place", THREE, ids=str)
def test_an_interruption_leaves_what_was_there(place: Place, written: Any, tmp_path: Path) -> None:
    (tmp_path / place.name).write_text(OLD)
    found = written(place, INTERRUPTED)
    assert (found.code, found.faults) == (130, ["interrupted"])
    assert (tmp_path / place.name).read_text() == OLD
    assert {path.name for path in tmp_path.iterdir()} <= {place.name, "report.html"}


@pytest.mark.parametrize("place", THREE, ids=str)
def test_a_folder_that_takes_no_file_is_told(place: Place, arguments: Any, tmp_path: Path) -> None:
    if not Path("/proc/self").is_dir():
        pytest.skip("no /proc, which nobody may write into")
    words = (*place.words[:-1], f"/proc/{place.name}")
    found = run([*arguments(place.command), *words], tmp_path)
    assert found.code == 2
    assert len(found.faults) == 1
    assert found.faults[0].startswith(f"/proc/{place.name}: cannot be written: ")


@pytest.mark.parametrize("name", SOME)
def test_a_working_directory_that_was_deleted_is_no_bug(
    name: str, arguments: Any, undisturbed: Any, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    usual, found = undisturbed(name), run(arguments(name), gone, f"import os; os.rmdir({str(gone)!r})")
    if name in {"report", "playground"}:  # they write into it
        assert (found.code, found.out) == (2, b"")
        assert len(found.faults) == 1
        assert "No such file or directory" in found.faults[0]
        return
    assert (found.code, found.out) == (usual.code, usual.out)


@pytest.mark.parametrize("name", ["evaluate", "metrics"])
def test_a_file_that_is_no_file_is_written_to_as_it_is(name: str, arguments: Any, tmp_path: Path) -> None:
    place = Path("/dev/full")
    if not place.exists():
        pytest.skip("no /dev/full")
    found = run([*arguments(name), "--format", "json", "-o", str(place)], tmp_path)
    assert (found.code, found.faults) == (2, ["/dev/full: cannot be written: No space left on device"])
    assert place.is_char_device()


def test_a_file_has_the_rights_of_the_one_it_replaces(tmp_path: Path) -> None:
    place = tmp_path / "a.json"
    write_file(place, ["new"])
    mask = os.umask(0)
    os.umask(mask)
    assert place.stat().st_mode & 0o777 == 0o666 & ~mask
    place.chmod(0o640)
    write_file(place, ["ne", b"wer"])
    assert (place.read_text(), place.stat().st_mode & 0o777) == ("newer", 0o640)


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "a.json")
    write_file(tmp_path / "link", ["new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a.json").read_text() == "new"


@pytest.mark.parametrize("long", [1, 200, 255], ids=lambda n: f"{n} letters")
def test_names_may_be_as_long_as_names_can_be(long: int, tmp_path: Path) -> None:
    write_file(tmp_path / ("a" * long), ["new"])
    assert [path.name for path in tmp_path.iterdir()] == ["a" * long]


def test_who_makes_the_pieces_has_the_word(tmp_path: Path) -> None:
    def pieces() -> Any:
        yield "half"
        raise InputError("there is no more")

    with pytest.raises(InputError, match=r"^there is no more$"):
        write_file(tmp_path / "a.txt", pieces())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["missing/a.txt", "a\0b", "x" * 256], ids=["no folder", "a null", "a long name"])
def test_a_place_that_cannot_be_is_told(path: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: ") as told:
        write_file(tmp_path / path, ["new"])
    assert "\n" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_another_is_writing_to(tmp_path: Path) -> None:
    """The part of a living process is not touched, whoever is done last has written the file, and no part is left."""
    place = tmp_path / "out.txt"

    def pieces() -> Iterator[str]:
        yield "first "
        (part,) = tmp_path.glob(".rankscope-*.part")
        write_file(place, ["second"])
        assert place.read_text() == "second"
        assert list(tmp_path.glob(".rankscope-*.part")) == [part]
        yield "goes on"

    write_file(place, pieces())
    assert place.read_text() == "first goes on"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize("link", ["symbolic link", "hard link"])
def test_a_link_in_the_place_of_a_part(link: str, tmp_path: Path) -> None:
    """A name that can be foreseen leads nobody to write elsewhere."""
    place, other = tmp_path / "out.txt", tmp_path / "other.txt"
    other.write_text(OLD)
    names: list[Path] = []
    write_file(place, (names.extend(tmp_path.glob(".rankscope-*.part")) or "text" for _ in range(1)))  # type: ignore[func-returns-value]
    (names[0].symlink_to if link == "symbolic link" else names[0].hardlink_to)(other)
    write_file(place, ["new"])
    assert (place.read_text(), other.read_text()) == ("new", OLD)
