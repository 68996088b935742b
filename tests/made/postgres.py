"""A PostgreSQL server of the tests: Debian's package, on loopback, with its own folder and user."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

USER = "postgres"  # the server refuses to run as root


def programs() -> Path | None:
    """The folder of initdb and postgres; None if they are not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: float(path.split("/")[4]))
    one = shutil.which("initdb")
    return Path(one).resolve().parent if one else Path(found[-1]) if found else None


def need_server() -> Path:
    """The folder of the programs, or a skipped test with the reason; a failed one if the server is required."""
    found, required = programs(), os.environ.get("RANKSCOPE_REQUIRE_POSTGRES") == "1"
    reason = "" if found else "PostgreSQL is not installed (apt-get install postgresql)"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        reason = reason or "psycopg is not installed"
    if reason and required:
        pytest.fail(f"RANKSCOPE_REQUIRE_POSTGRES=1, but {reason}")
    if reason or found is None:
        pytest.skip(reason)
    return found


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """A running server with an empty database; its address without the name of a database."""
    bin_ = need_server()
    data = folder / "data"
    user = USER if os.geteuid() == 0 else None
    if user:
        for place in (folder, *folder.parents):  # the user of the server passes through
            if place.stat().st_uid == 0 and place != Path("/") and str(place).startswith("/tmp/"):
                place.chmod(place.stat().st_mode | 0o011)
        shutil.chown(folder, user)

    def run(*words: str) -> None:
        subprocess.run(words, check=True, user=user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

    run(str(bin_ / "initdb"), "-D", str(data), "-U", "ledger", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=60"
    run(str(bin_ / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield f"postgresql+psycopg://ledger@127.0.0.1:{port}"
    finally:
        with suppress(subprocess.CalledProcessError):  # it has stopped if another run of the tests removed its folder
            run(str(bin_ / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")
