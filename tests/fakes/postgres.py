"""A PostgreSQL server for tests: one that is named, Debian's, or that of the pgserver wheel."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

GIVEN = "FABULA_TEST_DATABASE_URL"
_CONNECTIONS = "max_connections=200"
# Quick; what was answered is not on the disk.
_QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


def find_programs() -> Path | None:
    """Folder of Debian's server programs, the newest first; None where there are none."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    return folders[0].parent if folders else None


@contextlib.contextmanager
def serve_postgres(*, durable: bool = False) -> Iterator[str | None]:
    """Start a server and give its address without a name of a database; None where none is.

    A durable one writes to the disk what it answers, as it does unless told otherwise.
    """
    settings = () if durable else _QUICK
    if given := os.environ.get(GIVEN):
        yield given.rsplit("/", 1)[0]
    elif (programs := find_programs()) and _find_user():
        with _serve_debian(programs, settings) as address:
            yield address
    else:
        with _serve_wheel(settings) as address:
            yield address


def _find_user() -> str | None:
    """Who may run the server: not root."""
    if os.geteuid():
        return pwd.getpwuid(os.geteuid()).pw_name
    with contextlib.suppress(KeyError):
        return pwd.getpwnam("postgres").pw_name
    return None


@contextlib.contextmanager
def _serve_debian(programs: Path, settings: tuple[str, ...]) -> Iterator[str]:
    # The path of a socket may have some hundred characters, which pytest's own folders exceed.
    folder, user = Path(tempfile.mkdtemp(prefix="pg-")), _find_user()
    data, start = folder / "data", {"stdout": subprocess.DEVNULL, "check": True, "cwd": folder}
    if not os.geteuid():
        shutil.chown(folder, user)
        start["user"] = user
    options = " ".join(f"-c {setting}" for setting in (*settings, _CONNECTIONS))
    options += f" -c listen_addresses='' -c unix_socket_directories={folder}"
    control = [programs / "pg_ctl", "-D", data, "-w"]
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8"],
        **start,
    )
    subprocess.run([*control, "-l", folder / "log", "-o", options, "start"], **start)
    try:
        yield f"postgresql://postgres@?host={folder}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **start)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _serve_wheel(settings: tuple[str, ...]) -> Iterator[str | None]:
    try:
        import pgserver
    except ImportError:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    server = pgserver.get_server(folder, cleanup_mode="delete")
    for setting in settings:
        server.psql(f"ALTER SYSTEM SET {setting.replace('=', ' = ')};")
    server.psql("SELECT pg_reload_conf();")
    try:
        yield f"postgresql://postgres@?host={folder}"
    finally:
        server.cleanup()
