"""The ledger in a database: SQLite in one file, or a PostgreSQL server of a team.

A write is one transaction: it is in the ledger in full or not at all, and what was acknowledged is on the disk. Writers wait for each other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from rankscope.errors import InputError, MissingExtraError
from rankscope.ledger import schema
from rankscope.ledger.launch import Launch, Measurement
from rankscope.ledger.schema import CONVENTIONS, LAUNCHES, MEASUREMENTS, sa

PATIENCE = 300  # seconds that a writer waits for others
OURS = [name for name in (f.name for f in fields(Launch)) if name not in {"name", "measurements"}]
AT_ONCE = 5000  # rows of one statement


class Ledger:
    """Past launches in a database at ``place``: the path of a SQLite file, or an address like ``postgresql+psycopg://host/name``.

    A missing SQLite file is made if ``make`` is true. Raises InputError if the database cannot be opened or is not a ledger, and
    MissingExtraError without the extra ``rankscope[ledger]``.
    """

    def __init__(self, place: str | Path, *, make: bool = True) -> None:
        self.place = str(place)
        address = _address(self.place, make)
        self.label = self.place if "://" not in self.place else sa.make_url(self.place).render_as_string()
        with self._plainly():
            try:
                self.engine = sa.create_engine(address, poolclass=sa.NullPool, **_settings(address))
            except ImportError:
                raise MissingExtraError("PostgreSQL needs psycopg: pip install 'rankscope[ledger]'") from None
            if self.engine.dialect.name == "sqlite":
                sa.event.listen(self.engine, "connect", _prepare_sqlite)
                sa.event.listen(self.engine, "begin", lambda c: c.exec_driver_sql("BEGIN IMMEDIATE"))
            with self.engine.connect() as connection:
                version = schema.version_of(connection)
            if version != len(schema.MIGRATIONS):
                with self.engine.begin() as connection:
                    schema.upgrade(connection, self.label)

    # -- writing ------------------------------------------------------------------------------------

    def add(self, launches: Launch | Iterable[Launch], conventions: Mapping[str, Any] | None = None) -> int:
        """Write launches in one transaction, and return their number. A launch of a known name is completed.

        Facts and measurements that are given replace those of the launch, all others stay. ``conventions`` holds the content of hashes.
        """
        several = [launches] if isinstance(launches, Launch) else list(launches)
        if twice := len(several) - len({launch.name for launch in several}):
            raise InputError(f"{twice} launches have the name of another one: give each its own name")
        with self._plainly(), self.engine.begin() as connection:
            insert = self._insert
            for hashed, content in (conventions or {}).items():
                row = {"hash": hashed, "content": json.dumps(content, sort_keys=True, default=str)}
                connection.execute(insert(CONVENTIONS).values(row).on_conflict_do_nothing())
            if several:
                blank = insert(LAUNCHES).on_conflict_do_nothing()
                names = sorted(launch.name for launch in several)
                connection.execute(
                    blank, [{"name": n, "baseline": "", "candidate": "", "notes": "", "tags": "[]"} for n in names]
                )
                self._complete(connection, several)
        return len(several)

    def _complete(self, connection: Any, launches: Sequence[Launch]) -> None:
        ids = self._ids(connection, [launch.name for launch in launches])
        for launch in launches:
            given = {name: value for name in OURS if (value := getattr(launch, name)) not in (None, "", ())}
            if "tags" in given:
                given["tags"] = json.dumps(list(launch.tags))
            if given:
                connection.execute(LAUNCHES.update().where(LAUNCHES.c.id == ids[launch.name]).values(given))
        rows = [_row_of(ids[launch.name], m) for launch in launches for m in launch.measurements]
        if rows:
            statement = self._insert(MEASUREMENTS)
            keys = [column.name for column in MEASUREMENTS.primary_key]
            new = {name: statement.excluded[name] for name in rows[0] if name not in keys}
            for start in range(0, len(rows), AT_ONCE):
                connection.execute(
                    statement.on_conflict_do_update(index_elements=keys, set_=new), rows[start : start + AT_ONCE]
                )

    def _ids(self, connection: Any, names: Sequence[str]) -> dict[str, int]:
        out: dict[str, int] = {}
        for start in range(0, len(names), 500):
            some = sa.select(LAUNCHES.c.name, LAUNCHES.c.id).where(LAUNCHES.c.name.in_(names[start : start + 500]))
            out |= dict(connection.execute(some).all())
        return out

    def _insert(self, table: Any) -> Any:
        """Return an insert of the dialect, with a rule for a row that is there already."""
        from sqlalchemy.dialects import postgresql, sqlite

        return {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[self.engine.dialect.name](table)

    # -- reading ------------------------------------------------------------------------------------

    def launches(self) -> list[Launch]:
        """Return all launches by day and name, those without a day first, each with its measurements."""
        with self._plainly(), self.engine.begin() as connection:
            heads = connection.execute(sa.select(LAUNCHES)).mappings().all()
            rows = connection.execute(sa.select(MEASUREMENTS)).all()
        names = [column.name for column in MEASUREMENTS.c]
        held: dict[int, list[Measurement]] = {head["id"]: [] for head in heads}
        for row in rows:
            held[row[0]].append(_measurement_of(dict(zip(names[1:], row[1:], strict=True))))
        found = []
        for head in heads:
            facts = {name: head[name] for name in OURS} | {"tags": tuple(json.loads(head["tags"]))}
            found.append(
                Launch(head["name"], **facts, measurements=tuple(sorted(held[head["id"]], key=lambda m: m.key)))
            )
        return sorted(found, key=lambda launch: (str(launch.day or ""), launch.name))

    def conventions(self) -> dict[str, Any]:
        """Return the conventions by their hash."""
        with self._plainly(), self.engine.begin() as connection:
            rows = connection.execute(sa.select(CONVENTIONS)).all()
        return {hashed: json.loads(content) for hashed, content in rows}

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """Turn errors of the database into one line."""
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            remedy = (
                "nothing of this call was written"
                if "full" in reason
                else "name a SQLite file or a PostgreSQL database"
            )
            raise InputError(f"{self.label}: {reason}; {remedy}") from None


def _address(place: str, make: bool) -> str:
    if "://" in place:
        if not place.startswith(("postgresql://", "postgresql+psycopg://")):
            raise InputError(
                f"{place.partition('://')[0]}://...: a ledger is a SQLite file or postgresql+psycopg://host/name"
            )
        return place.replace("postgresql://", "postgresql+psycopg://", 1)
    path = Path(place).expanduser()
    if path.is_dir() or not (path.parent.is_dir()):
        raise InputError(f"{place}: not a file in a folder that exists: name the file of the ledger, like launches.db")
    if not path.exists() and not make:
        raise InputError(f"{place}: there is no ledger: rankscope launches import or compare --record makes one")
    if path.exists() and _start_of(path) not in {b"", b"SQLite format 3\0"}:
        raise InputError(f"{place}: not a SQLite file: name the file of a ledger, like launches.db")
    return f"sqlite:///{os.path.abspath(path)}"


def _start_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)


def _settings(address: str) -> dict[str, Any]:
    if not address.startswith("sqlite"):
        return {"connect_args": {"connect_timeout": 15}} if "psycopg" in address else {}
    return {"connect_args": {"timeout": PATIENCE, "isolation_level": None}}


def _prepare_sqlite(connection: Any, _: Any) -> None:
    """Let SQLAlchemy begin transactions, and let an acknowledged write survive a crash."""
    for line in ("PRAGMA foreign_keys = ON", "PRAGMA synchronous = FULL"):
        connection.execute(line)


def _row_of(launch: int, m: Measurement) -> dict[str, Any]:
    row = {f.name: getattr(m, f.name) for f in fields(Measurement)}
    return {
        **row,
        "launch": launch,
        "covariances": json.dumps(dict(m.covariances)),
        "sketch": json.dumps(list(m.sketch)),
    }


def _measurement_of(row: dict[str, Any]) -> Measurement:
    covariances = json.loads(row.pop("covariances")) if row["covariances"] != "{}" else row.pop("covariances") and {}
    sketch = json.loads(row.pop("sketch")) if row["sketch"] != "[]" else row.pop("sketch") and ()
    return Measurement(**row, covariances=covariances, sketch=tuple(sketch))
