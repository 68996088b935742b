"""The ledger in a database: SQLite in one file, or a PostgreSQL server of a team.

A write is one transaction: it is in the ledger in full or not at all, and what was acknowledged is on the disk. Writers wait for each other.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankscope.errors import InputError, MissingExtraError
from rankscope.ledger.launch import FACTS, Launch, Measurement

try:
    import sqlalchemy as sa
except ImportError:
    raise MissingExtraError("the ledger needs SQLAlchemy: pip install 'rankscope[ledger]'") from None


class JsonText(sa.TypeDecorator[Any]):
    """JSON in a column of text."""

    impl, cache_ok = sa.Text, True

    def process_bind_param(self, value: Any, _: Any) -> str:
        """Return the value as JSON."""
        return json.dumps(value, default=str)

    def process_result_value(self, value: Any, _: Any) -> Any:
        """Return the value from JSON, a list as a tuple."""
        found = json.loads(value)
        return tuple(found) if isinstance(found, list) else found


META = sa.MetaData()
VERSION = sa.Table("rankscope_ledger", META, sa.Column("version", sa.Integer, nullable=False))
NUMBER: sa.Double[float] = sa.Double()
LAUNCHES = sa.Table(  # columns in the order of the fields of Launch
    "launches", META,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("baseline", sa.Text, nullable=False),
    sa.Column("candidate", sa.Text, nullable=False),
    sa.Column("day", sa.Date),
    sa.Column("launched", sa.Boolean),
    sa.Column("notes", sa.Text, nullable=False),
    sa.Column("tags", JsonText, nullable=False),
)  # fmt: skip
MEASUREMENTS = sa.Table(  # and of Measurement
    "measurements", META,
    sa.Column("launch", sa.ForeignKey("launches.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("side", sa.Text, primary_key=True),
    sa.Column("metric", sa.Text, primary_key=True),
    sa.Column("difference", NUMBER, nullable=False),
    sa.Column("standard_error", NUMBER, nullable=False),
    sa.Column("better", sa.Text, nullable=False),
    sa.Column("baseline_value", NUMBER),
    sa.Column("units", sa.BigInteger),
    sa.Column("verdict", sa.Text, nullable=False),
    sa.Column("conventions", sa.Text, primary_key=True),  # a hash
    sa.Column("judgments", sa.Text, nullable=False),  # a hash
    sa.Column("covariances", JsonText, nullable=False),
    sa.Column("sketch", JsonText, nullable=False),
)  # fmt: skip
CONVENTIONS = sa.Table("conventions", META, sa.Column("hash", sa.Text, primary_key=True), sa.Column("content", JsonText, nullable=False))  # fmt: skip


def _first(connection: Any) -> None:
    for table in (LAUNCHES, MEASUREMENTS, CONVENTIONS):
        table.create(connection)


MIGRATIONS: list[Callable[[Any], None]] = [_first]
"""Each makes the tables of the next version, in the transaction that raises the version."""


def upgrade(connection: Any, place: str) -> None:
    """Bring the tables to the newest version, inside of one transaction that no other process can enter.

    Raises InputError for a ledger of a newer rankscope, and for a database with other tables of the same names.
    """
    if connection.dialect.name == "postgresql":  # SQLite's transaction holds the whole file
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(7203114)"))
    there = set(sa.inspect(connection).get_table_names())
    if VERSION.name not in there:
        if others := there & {"launches", "measurements", "conventions"}:
            raise InputError(f"{place}: has a table {min(others)} that is not of a ledger: name another database")
        VERSION.create(connection)
        connection.execute(VERSION.insert().values(version=0))
    version = version_of(connection)
    if version > len(MIGRATIONS):
        raise InputError(
            f"{place}: a ledger of version {version}, and this rankscope reads versions up to {len(MIGRATIONS)}: install a newer one"
        )
    for migrate in MIGRATIONS[version:]:
        migrate(connection)
    if version < len(MIGRATIONS):
        connection.execute(VERSION.update().values(version=len(MIGRATIONS)))


def version_of(connection: Any) -> int:
    """Return the version of the tables."""
    return int(connection.execute(sa.select(VERSION.c.version)).scalar_one())


PATIENCE = 300  # seconds that a writer waits for others
OF_DRIVER = {"sqlite": {"timeout": PATIENCE, "isolation_level": None}, "postgresql": {"connect_timeout": 15}}


class Ledger:
    """Past launches in a database at ``place``: the path of a SQLite file, or an address like ``postgresql+psycopg://host/name``.

    A missing SQLite file is made if ``make`` is true. Raises InputError if the database cannot be opened or is not a ledger, and
    MissingExtraError without the extra ``rankscope[ledger]``.
    """

    def __init__(self, place: str | Path, *, make: bool = True) -> None:
        self.place = str(place)
        self.label = self.place if "://" not in self.place else sa.make_url(self.place).render_as_string()
        address = sa.make_url(_address(self.place, make))
        with self._plainly():
            try:
                driver = OF_DRIVER[address.get_backend_name()]
                self.engine = sa.create_engine(address, poolclass=sa.NullPool, connect_args=driver)
            except ImportError:
                raise MissingExtraError("PostgreSQL needs psycopg: pip install 'rankscope[ledger]'") from None
            if self.engine.dialect.name == "sqlite":
                sa.event.listen(self.engine, "connect", _prepare_sqlite)
                sa.event.listen(self.engine, "begin", lambda c: c.exec_driver_sql("BEGIN IMMEDIATE"))
            with self.engine.begin() as connection:
                upgrade(connection, self.label)

    def add(self, launches: Launch | Iterable[Launch], conventions: Mapping[str, Any] | None = None) -> int:
        """Write launches in one transaction, and return their number. A launch of a known name is completed.

        Facts and measurements that are given replace those of the launch, all others stay. ``conventions`` holds the content of hashes.
        """
        several = sorted([launches] if isinstance(launches, Launch) else launches, key=lambda launch: launch.name)
        if twice := len(several) - len({launch.name for launch in several}):
            raise InputError(f"{twice} launches have the name of another one: give each its own name")
        rows = (
            [{"hash": hashed, "content": content} for hashed, content in (conventions or {}).items()],
            [{name: getattr(launch, name) for name in ("name", *FACTS)} for launch in several],
            [vars(m) | {"of": launch.name} for launch in several for m in launch.measurements],
        )
        with self._plainly(), self.engine.begin() as connection:
            for statement, some in zip(self._statements(), rows, strict=True):
                if some:
                    connection.execute(statement, some)
        return len(several)

    def _statements(self) -> tuple[Any, Any, Any]:
        """Return the statements that write conventions, launches and measurements, and complete those that are there already."""
        from sqlalchemy.dialects import postgresql, sqlite

        insert: Any = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[self.engine.dialect.name]
        facts, of = insert(LAUNCHES), sa.select(LAUNCHES.c.id).where(LAUNCHES.c.name == sa.bindparam("of"))
        measured = insert(MEASUREMENTS).values(launch=of.scalar_subquery())
        given = {  # an empty one changes nothing
            name: sa.func.coalesce(
                new if new.nullable else sa.func.nullif(new, sa.text("'[]'" if name == "tags" else "''")), LAUNCHES.c[name]
            )
            for name, new in facts.excluded.items() if name in FACTS
        }  # fmt: skip
        return (
            insert(CONVENTIONS).on_conflict_do_nothing(),
            facts.on_conflict_do_update(index_elements=["name"], set_=given),
            measured.on_conflict_do_update(index_elements=list(MEASUREMENTS.primary_key), set_=dict(measured.excluded)),
        )

    def launches(self) -> list[Launch]:
        """Return all launches by day and name, those without a day first, each with its measurements."""
        heads, rows = self._read(LAUNCHES, MEASUREMENTS)
        held = defaultdict[int, list[Measurement]](list)
        for launch, *values in rows:
            held[launch].append(Measurement(*values))
        found = [Launch(*facts, measurements=tuple(sorted(held[at], key=lambda m: m.key))) for at, *facts in heads]  # type: ignore[misc]
        return sorted(found, key=lambda launch: (str(launch.day or ""), launch.name))

    def conventions(self) -> dict[str, Any]:
        """Return the conventions by their hash."""
        return dict(self._read(CONVENTIONS)[0])

    def _read(self, *tables: Any) -> list[Any]:
        with self._plainly(), self.engine.begin() as connection:
            return [connection.execute(sa.select(table)).all() for table in tables]

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """Turn errors of the database into one line."""
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            full, other = "nothing of this call was written", "name a SQLite file or a PostgreSQL database"
            raise InputError(f"{self.label}: {reason}; {full if 'full' in reason else other}") from None


def _address(place: str, make: bool) -> str:
    if "://" in place:
        if not place.startswith(("postgresql://", "postgresql+psycopg://")):
            raise InputError(
                f"{place.partition('://')[0]}://...: a ledger is a SQLite file or postgresql+psycopg://host/name"
            )
        return place.replace("postgresql://", "postgresql+psycopg://", 1)
    path = Path(place).expanduser()
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{place}: not a file in a folder that exists: name the file of the ledger, like launches.db")
    if not path.exists() and not make:
        raise InputError(f"{place}: there is no ledger: rankscope launches import or compare --record makes one")
    return f"sqlite:///{os.path.abspath(path)}"


def _prepare_sqlite(connection: Any, _: Any) -> None:
    """Let SQLAlchemy begin transactions, and let an acknowledged write survive a crash."""
    for line in ("PRAGMA foreign_keys = ON", "PRAGMA synchronous = FULL"):
        connection.execute(line)
