"""This machine: variables of its environment, its other processes, its ports."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from fabula.core.errors import SettingError


@contextmanager
def switch_on(*names: str) -> Iterator[None]:
    """Set variables of the environment to 1 for a while; afterwards they are as they were."""
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def is_alive(pid: int) -> bool:
    """Whether a process of that number runs; where that cannot be told, it is taken to."""
    if sys.platform == "win32":
        # Signal 0 would end the process there.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def find_port(host: str, port: int) -> int:
    """Give the port if nobody else has it; for 0, one that is free."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
            return int(trial.getsockname()[1])
    except socket.gaierror:
        raise SettingError(f"{host!r} is no address", "try --host 127.0.0.1") from None
    except PermissionError:
        raise SettingError(f"port {port} is not for everyone", "try --port 8000") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SettingError(
                f"port {port} is taken, perhaps by another server of yours",
                f"try --port {port + 1}",
            ) from None
        raise SettingError(
            f"{host} is no address of this machine", "try --host 127.0.0.1, or 0.0.0.0 for all"
        ) from None


def spell_address(host: str, port: int) -> str:
    """Where to point a browser."""
    shown = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"
