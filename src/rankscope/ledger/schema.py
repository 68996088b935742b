"""The tables of the ledger and their versions. A change of the tables is one more entry in ``MIGRATIONS``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from rankscope.errors import InputError, MissingExtraError

try:
    import sqlalchemy as sa
except ImportError:
    raise MissingExtraError("the ledger needs SQLAlchemy: pip install 'rankscope[ledger]'") from None

__all__ = ["CONVENTIONS", "LAUNCHES", "MEASUREMENTS", "MIGRATIONS", "VERSION", "sa", "upgrade", "version_of"]


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
