"""How Fabula is installed here, so that the commands which messages name do run.

Nothing of ours is on a package index, an environment need not be activated, and there may be
several: what a user has to type is found out, not assumed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fabula._version import __version__

_SOURCE = Path(__file__).resolve().parents[2]
_ON_WINDOWS = sys.platform == "win32"


def spell_command(words: str) -> str:
    """Spell a command of ours as it runs here: `fabula doctor`, or `.venv/bin/fabula doctor`."""
    return f"{_spell_fabula()} {words}"


def spell_commands(text: str) -> str:
    """Spell every command of ours that a text names as it runs here."""
    if "fabula " not in text:
        return text
    return re.sub(r"(?<![\w./\-])fabula (?=[a-z])", lambda _: f"{_spell_fabula()} ", text)


def spell_install(*extras: str) -> str:
    """Spell the command that adds extras to this very installation.

    In a clone that is `pip install -e '.[meta]'`; where Fabula came from an archive or a
    repository, that is named again; where nobody knows, the packages of the extras are.
    """
    named = f"[{','.join(extras)}]"
    if (clone := find_clone()) is not None:
        return f"{_spell_pip_install()} -e {_quote(_spell_place(clone) + named)}"
    origin = _read_origin()
    if (place := _find_place(origin)) is not None:
        return f"{_spell_pip_install()} {_quote(_spell_place(place) + named)}"
    if origin and not origin["url"].startswith("file:"):
        return f"{_spell_pip_install()} {_quote(f'fabula{named} @ {_spell_url(origin)}')}"
    packages = " ".join(_quote(package) for package in _list_requirements(extras))
    return f"{_spell_pip_install()} {packages or _quote(f'fabula{named}')}"


def find_pip() -> list[str]:
    """The words of a command that installs packages into this very environment."""
    if find_spec("pip") is None and shutil.which("uv"):
        return ["uv", "pip", "install", "--python", sys.executable]
    return [sys.executable, "-m", "pip", "install"]


def spell_weights_install(distribution: str = "fabula-weights") -> str:
    """Spell the command that installs the weights, which lie in a clone beside the package."""
    origin = _read_origin()
    place = find_clone() or _find_place(origin)
    if place is not None and (place / "weights").is_dir():
        return f"{_spell_pip_install()} {_quote(_spell_place(place / 'weights'))}"
    if origin and "vcs_info" in origin:
        url = _spell_url(origin | {"subdirectory": "weights"})
        return f"{_spell_pip_install()} {_quote(f'{distribution} @ {url}')}"
    return f"{_spell_pip_install()} ./weights, in a clone of Fabula"


def spell_way() -> str:
    """Say how the command is called here, and what makes it `fabula` alone; "" where it is."""
    name = _spell_fabula()
    if name == "fabula":
        return ""
    scripts = Path(sys.executable).parent
    way = f"Here the command is {name}; to write fabula alone, run: "
    if sys.prefix == sys.base_prefix:
        return f"{way}export PATH={_quote(str(scripts))}:$PATH"
    activate = _spell_place(scripts / "activate")
    return way + (activate if _ON_WINDOWS else f". {activate.removeprefix('./')}")


def spell_studio() -> str:
    """Say how to open the studio with an example game, and what to install before."""
    lines = ["To write with a co-author, open the studio and choose “Open an example game”:"]
    if find_spec("uvicorn") is None or find_spec("torch") is None:
        lines.append(f"  {spell_install('web', 'models')}")
    lines += [
        f"  {spell_command(words)}" for words in ("models pull smollm2", "serve --local --open")
    ]
    return "\n".join(lines)


def spell_version() -> str:
    """Say which Fabula runs on what: all that a report of a fault has to begin with."""
    machine = f"{sys.platform} {os.uname().machine}" if hasattr(os, "uname") else sys.platform
    words = f"fabula {__version__}, Python {sys.version.split()[0]}, {machine}"
    return f"{words}, commit {commit}" if (commit := _find_commit()) else words


def _find_commit() -> str:
    """Commit that this code is of, where it runs from a clone or came from a repository."""
    clone = find_clone()
    if clone is None:
        return str(_read_origin().get("vcs_info", {}).get("commit_id", ""))[:7]
    if not (clone / ".git").exists() or not shutil.which("git"):
        return ""
    import subprocess

    words = ["git", "-C", str(clone), "rev-parse", "--short=7", "HEAD"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def find_clone() -> Path | None:
    """Root of the clone that this very code runs from; None where it was installed."""
    root = _SOURCE.parent
    return root if _SOURCE.name == "src" and (root / "pyproject.toml").is_file() else None


def _spell_fabula() -> str:
    program = Path(sys.argv[0]) if sys.argv and sys.argv[0] else Path("fabula")
    beside = Path(sys.executable).with_name("fabula.exe" if _ON_WINDOWS else "fabula")
    # The running script itself, which may lie elsewhere (`pip install --user`), goes first.
    candidates = [path for path in (program, beside) if path.stem == "fabula" and path.is_file()]
    found = shutil.which("fabula")
    if found and any(_is_same(Path(found), path) for path in candidates):
        return "fabula"
    if candidates:
        return _quote(_spell_program(candidates[0]))
    return f"{spell_python()} -m fabula"


def _spell_pip_install() -> str:
    beside = Path(sys.executable).with_name("pip.exe" if _ON_WINDOWS else "pip")
    if beside.is_file():
        return f"{_quote(_spell_program(beside))} install"
    if find_spec("pip") is None and shutil.which("uv"):
        return f"uv pip install --python {spell_python()}"
    return f"{spell_python()} -m pip install"


def spell_python() -> str:
    """Spell the interpreter that runs this."""
    return _quote(_spell_program(Path(sys.executable))) if sys.executable else "python"


def _spell_program(path: Path) -> str:
    """Name a program: alone where the shell finds this one, else by the shortest path to it."""
    found = shutil.which(path.name)
    if found and _is_same(Path(found), path):
        return path.stem if _ON_WINDOWS else path.name
    return _spell_place(path).removeprefix("./") if len(path.parts) > 1 else str(path)


def _spell_place(path: Path) -> str:
    """Spell a path: from here where it is here or below, else whole."""
    try:
        here = Path.cwd()
        below = path.absolute().relative_to(here)
    except (ValueError, OSError):
        return str(path.absolute())
    if here == here.parent:
        return str(path.absolute())
    return f"./{below.as_posix()}" if below.parts else "."


def _is_same(one: Path, other: Path) -> bool:
    # Not by content: the Python of an environment is a link to the one it was made with.
    try:
        return one.name == other.name and one.parent.samefile(other.parent)
    except OSError:
        return False


def _quote(text: str) -> str:
    if not _ON_WINDOWS:
        return shlex.quote(text)
    return f'"{text}"' if any(sign in text for sign in " [](),;&^") else text


@cache
def _read_origin() -> dict[str, Any]:
    """Give what pip noted of where Fabula came from (PEP 610); nothing where it came by name."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("fabula").read_text("direct_url.json")
        origin = json.loads(text) if text else {}
    except (PackageNotFoundError, ValueError, OSError):
        return {}
    return origin if isinstance(origin, dict) and isinstance(origin.get("url"), str) else {}


def _find_place(origin: dict[str, Any]) -> Path | None:
    """Folder or wheel that Fabula was installed from, if it is still there."""
    from urllib.request import url2pathname

    parts = urlsplit(origin.get("url", ""))
    path = Path(url2pathname(parts.path)) if parts.scheme == "file" else None
    return path if path and "vcs_info" not in origin and path.exists() else None


def _spell_url(origin: dict[str, Any]) -> str:
    """Spell where Fabula came from as pip wants it."""
    vcs = origin.get("vcs_info")
    url = f"{vcs['vcs']}+{origin['url']}" if vcs else str(origin["url"])
    if vcs and vcs.get("requested_revision"):
        url += f"@{vcs['requested_revision']}"
    return f"{url}#subdirectory={origin['subdirectory']}" if origin.get("subdirectory") else url


def _list_requirements(extras: tuple[str, ...]) -> list[str]:
    """Packages that extras bring, as our metadata name them; those of an extra within one too."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires("fabula") or []
    except PackageNotFoundError:
        return []
    packages: list[str] = []
    waiting = list(extras)
    for extra in waiting:
        for line in lines:
            package, _, condition = line.partition(";")
            if not re.search(rf"""extra\s*==\s*['"]{extra}['"]""", condition):
                continue
            inner = re.match(r"fabula\s*\[(.*)\]", package)
            waiting += [name.strip() for name in inner[1].split(",")] if inner else []
            packages += [] if inner else [package.strip()]
    return list(dict.fromkeys(packages))
