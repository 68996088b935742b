"""The ledger on SQLite and on a PostgreSQL server: same content, no lost launch, one line for every error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.made.ledgers import launches, one
from tests.made.postgres import server
from tests.made.samples import EVERYTHING

from rankscope.errors import InputError
from rankscope.ledger import store as schema
from rankscope.ledger.launch import Measurement, hash_of
from rankscope.ledger.store import Ledger
from rankscope.verbs.launches.launches import correlate

WRITERS, EACH = (8, 1000) if EVERYTHING else (8, 12)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PostgreSQL server."""
    with server(tmp_path_factory.mktemp("postgres")) as found:
        yield found


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The place of an empty ledger in either database."""
    if request.param == "SQLite":
        return str(tmp_path / "launches.db")
    at, name = request.getfixturevalue("address"), f"l{abs(hash(str(tmp_path))):x}"
    engine = sa.create_engine(f"{at}/postgres", isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.execute(sa.text(f'CREATE DATABASE "{name}"'))
    return f"{at}/{name}"


def start(place: str, writers: int, count: int) -> subprocess.Popen[str]:
    """A process whose children write launches; all of them are one group."""
    words = [sys.executable, "-m", "tests.made.ledgers", place, str(writers), str(count)]
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)


def test_all_that_is_written_is_read(place: str) -> None:
    given = [
        one("a", tags=("aa", "ümläut"), notes="x\ny"), one("b", online=None, launched=False), one("c", launched=True),
    ]  # fmt: skip
    m = Measurement(
        "offline", "AP", 1e-300, 0.1, "lower", 0.5, 200, "better", "c1", "j1", {"nDCG@10": 0.25}, (0.5, -0.25)
    )
    given[0] = type(given[0])(**{**vars(given[0]), "measurements": (m, *given[0].measurements)})
    ledger = Ledger(place)
    assert ledger.add(given, {"c1": {"ties": "trec"}}) == 3
    assert Ledger(place).launches() == given
    assert ledger.conventions() == {"c1": {"ties": "trec"}}


def test_a_later_write_completes_a_launch(place: str) -> None:
    ledger = Ledger(place)
    ledger.add(one("a", online=None, baseline="", notes="first"))
    ledger.add(type(one("a"))("a", baseline="bm25", measurements=(Measurement("online", "CTR", 0.1, 0.2),)))
    ledger.add(type(one("a"))("a", measurements=(Measurement("online", "CTR", 0.3, 0.2),)))
    (found,) = ledger.launches()
    assert (found.baseline, found.notes, found.candidate) == ("bm25", "first", "new")
    assert [(m.metric, m.difference) for m in found.measurements] == [("nDCG@10", 0.01), ("CTR", 0.3)]


def test_both_databases_give_identical_results(address: str, tmp_path: Path) -> None:
    made = launches(60, seed=4, rejected=0.3)
    engine = sa.create_engine(f"{address}/postgres", isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.execute(sa.text("CREATE DATABASE identical"))
    found = []
    for at in (str(tmp_path / "a.db"), f"{address}/identical"):
        ledger = Ledger(at)
        ledger.add(made)
        found.append(correlate(ledger).to_json().replace(ledger.label, "here"))
    assert found[0] == found[1]


def test_concurrent_writers_lose_nothing(place: str) -> None:
    writing = start(place, WRITERS, EACH)
    said = set(writing.communicate(timeout=1500)[0].split())
    assert writing.returncode == 0
    found = Ledger(place).launches()
    assert {launch.name for launch in found} == said
    assert len(found) == WRITERS * EACH
    assert all(len(launch.measurements) == 2 for launch in found)


def test_killed_writers_leave_what_they_acknowledged(place: str) -> None:
    Ledger(place)
    for turn in range(6 if EVERYTHING else 1):
        writing = start(place, 2, 100_000)
        assert writing.stdout is not None
        said = [writing.stdout.readline().strip() for _ in range(5 + 3 * turn)]
        os.killpg(writing.pid, signal.SIGKILL)
        said += [line for line in writing.communicate()[0].split() if len(line) == len("w0-00000")]
        found = {launch.name: launch for launch in Ledger(place).launches()}
        assert set(said) <= found.keys()
        assert len(said) >= 5
        assert all(len(launch.measurements) == 2 for launch in found.values())
        Ledger(place).add(one(f"after {turn}"))  # and can be written to


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "launches.db")
    ledger.add(one("a"))
    limit: Callable[[Any, Any], None] = lambda connection, _: connection.execute("PRAGMA max_page_count = 12")  # noqa: E731
    sa.event.listen(ledger.engine, "connect", limit)
    with pytest.raises(InputError, match=r"launches\.db: database or disk is full; nothing of this call was written"):
        ledger.add(launches(200))
    assert [launch.name for launch in Ledger(ledger.place).launches()] == ["a"]


# --- versions ----------------------------------------------------------------------------------------------------


def test_an_older_ledger_is_brought_up_to_date(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger(place).add(one("a"))

    def add_column(connection: Any) -> None:
        connection.execute(sa.text("ALTER TABLE launches ADD COLUMN owner TEXT"))

    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, add_column])
    for _ in range(2):  # once, and never again
        ledger = Ledger(place)
    with ledger.engine.connect() as connection:
        assert schema.version_of(connection) == 2
        assert "owner" in {column["name"] for column in sa.inspect(connection).get_columns("launches")}
    assert [launch.name for launch in ledger.launches()] == ["a"]


def test_a_failed_migration_leaves_the_old_version(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger(place).add(one("a"))

    def half(connection: Any) -> None:
        connection.execute(sa.text("ALTER TABLE launches ADD COLUMN owner TEXT"))
        connection.execute(sa.text("ALTER TABLE missing ADD COLUMN owner TEXT"))

    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, half])
        with pytest.raises(InputError, match="missing"):
            Ledger(place)
    with Ledger(place).engine.connect() as connection:
        assert schema.version_of(connection) == 1
        assert "owner" not in {column["name"] for column in sa.inspect(connection).get_columns("launches")}


def test_a_newer_ledger_is_refused(place: str) -> None:
    with Ledger(place).engine.begin() as connection:
        connection.execute(schema.VERSION.update().values(version=9))
    with pytest.raises(
        InputError, match="a ledger of version 9, and this rankscope reads versions up to 1: install a newer one"
    ):
        Ledger(place)


# --- what is no ledger -------------------------------------------------------------------------------------------


def test_places_that_cannot_hold_a_ledger(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are notes, and longer than sixteen bytes")
    other = sa.create_engine(f"sqlite:///{tmp_path / 'other.db'}", poolclass=sa.NullPool)
    with other.begin() as connection:
        connection.execute(sa.text("CREATE TABLE launches (rocket TEXT)"))
    cases = {
        str(tmp_path / "notes.txt"): "file is not a database; name a SQLite file",
        str(tmp_path): "not a file in a folder that exists",
        str(tmp_path / "no" / "a.db"): "not a file in a folder that exists",
        str(tmp_path / "other.db"): "has a table launches that is not of a ledger",
        "mysql://host/name": "a ledger is a SQLite file or postgresql",
    }
    for place, said in cases.items():
        with pytest.raises(InputError, match=said):
            Ledger(place)
    with pytest.raises(InputError, match="there is no ledger: rankscope launches import"):
        Ledger(tmp_path / "absent.db", make=False)
    assert not (tmp_path / "absent.db").exists()


def test_a_server_that_does_not_answer_is_one_line(need: Callable[[str], Any]) -> None:
    need("psycopg")
    with pytest.raises(InputError) as caught:
        Ledger("postgresql+psycopg://me:secret@127.0.0.1:1/x")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_hash_is_of_the_content() -> None:
    assert hash_of({"a": 1, "b": 2}) == hash_of({"b": 2, "a": 1}) != hash_of({"a": 1, "b": 3})
