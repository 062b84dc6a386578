from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import shutil
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fabula.core.errors import PackageMissing
from fabula.models import (
    AssetError,
    export_assets,
    get_asset,
    import_assets,
    path_of,
    pull,
    remove,
    verify,
)
from fabula.models.store import convert
from fabula.models.store.asset import MANIFEST, file_hashes, read_manifest, tree_sha256
from fabula.models.store.convert import Conversion
from fabula.models.store.folder import add
from fakes.watching import watched

Run = Callable[[Path, Path, Callable[[str], None]], None]


def to_capitals(source: Path, target: Path, say: Callable[[str], None]) -> None:
    say("step 1 of 1")
    text = (source / "data/a.txt").read_text()
    (target / "made.txt").write_text(text.upper())
    (target / "made.txt").chmod(0o600)


@pytest.fixture
def made(toy: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The toy, of which a file in capitals is made when it is pulled."""
    declared = toy.assets / "toy.toml"
    keys = 'convert = "capitals"\nconverted_size = 4\nsize ='
    pinned = f'\n[converted]\n"made.txt" = "{hashlib.sha256(b"ONCE").hexdigest()}"\n'
    declared.write_text(declared.read_text().replace("size =", keys, 1) + pinned)
    let_run(monkeypatch, to_capitals)
    return toy


def let_run(monkeypatch: pytest.MonkeyPatch, run: Run, *packages: str) -> None:
    how = Conversion(run, packages, "models")
    monkeypatch.setitem(convert.CONVERSIONS, "capitals", how)  # type: ignore[misc]


def test_what_is_published_is_what_was_made(made: Any) -> None:
    said: list[str] = []
    folder = pull("toy", said.append)
    assert file_hashes(folder).keys() == {"made.txt"}
    assert (folder / "made.txt").read_text() == "ONCE"
    assert said[1:] == ["toy: converting, step 1 of 1"]
    assert made.left_in_store() == [folder.name]
    assert verify("toy").state == "ok"
    assert path_of("toy") == folder


def test_what_was_made_can_be_read_by_others(made: Any) -> None:
    mode = (pull("toy") / "made.txt").stat().st_mode
    assert stat.S_IMODE(mode) == 0o644


def test_the_manifest_pins_the_source_and_records_what_was_made(made: Any) -> None:
    folder = pull("toy")
    manifest = read_manifest(folder, get_asset("toy"))
    assert manifest is not None
    assert manifest.source_sha256 == get_asset("toy").tree_sha256
    assert manifest.tree_sha256 == tree_sha256(file_hashes(folder)) != manifest.source_sha256


def test_it_records_the_packages_it_was_made_with(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_run(monkeypatch, to_capitals, "numpy")
    manifest = read_manifest(pull("toy"), get_asset("toy"))
    assert manifest is not None
    assert manifest.made_with == {"numpy": pytest.importorskip("numpy").__version__}


def test_another_source_is_never_converted(made: Any) -> None:
    toml = made.assets / "toy.toml"
    toml.write_text(toml.read_text().replace(get_asset("toy").tree_sha256, "0" * 64))
    with pytest.raises(AssetError, match="not the pinned content"):
        pull("toy")
    assert made.left_in_store() == []


def test_a_missing_package_is_named_before_anything_is_fetched(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_run(monkeypatch, to_capitals, "numpy", "no_such_package")
    with pytest.raises(PackageMissing) as caught:
        pull("toy")
    expected = "no_such_package is not installed; run: pip install -e '.[models]'"
    assert str(caught.value) == expected
    assert made.downloads == 0
    assert made.left_in_store() == []


def test_a_file_that_changed_after_it_was_made_is_refused(made: Any) -> None:
    folder = pull("toy")
    (folder / "made.txt").write_text("0NCE")
    assert verify("toy").detail == "changed: made.txt"
    with pytest.raises(AssetError, match=r"damaged \(changed: made.txt\)"):
        path_of("toy")


def test_what_was_made_is_known_without_its_manifest(made: Any) -> None:
    folder = pull("toy")
    (folder / MANIFEST).unlink()
    assert verify("toy").state == "ok" and path_of("toy") == folder
    (folder / "made.txt").write_text("0NCE")
    assert verify("toy").state == "damaged"


def test_a_conversion_that_gives_something_else_is_refused(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(source: Path, target: Path, say: Callable[[str], None]) -> None:
        (target / "made.txt").write_text("0NCE")

    let_run(monkeypatch, spoil, "numpy")
    with pytest.raises(AssetError, match=r"made of 'toy' here \(numpy .*\) is not .*: made.txt"):
        pull("toy")
    assert made.left_in_store() == []


def forge(file: Path, forged: Path, name: str, data: bytes) -> None:
    """Change one file of an exported asset, and every digest that the tar declares of itself."""
    with tarfile.open(file) as tar, tarfile.open(forged, "w") as out:
        parts = {entry.name: tar.extractfile(entry).read() for entry in tar}  # type: ignore[union-attr]
        parts[name] = data
        asset, _, inner = name.partition("/")
        manifest = json.loads(parts[f"{asset}/{MANIFEST}"])
        manifest["files"][inner] = hashlib.sha256(data).hexdigest()
        manifest["tree_sha256"] = tree_sha256(manifest["files"])
        parts[f"{asset}/{MANIFEST}"] = json.dumps(manifest).encode()
        for path, content in parts.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            out.addfile(entry, io.BytesIO(content))


def test_a_forged_tar_with_digests_of_its_own_is_refused(made: Any) -> None:
    folder, file, forged = pull("toy"), made.root / "assets.tar", made.root / "forged.tar"
    export_assets(["toy"], file)
    forge(file, forged, "toy/made.txt", b"0NCE")
    remove("toy")
    with pytest.raises(AssetError, match="not the pinned content of 'toy'"):
        import_assets(forged)
    assert made.left_in_store() == []
    # One that an earlier version let in is found.
    with tarfile.open(forged) as tar:
        tar.extractall(made.root / "out", filter="data")
    shutil.copytree(made.root / "out" / "toy", folder)
    assert (verify("toy").state, verify("toy").detail) == ("damaged", "changed: made.txt")


def test_small_files_of_a_conversion_are_written_as_they_are_pinned(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chat(source: Path, target: Path, say: Callable[[str], None]) -> None:
        to_capitals(source, target, say)
        (target / "config.json").write_text('{"version": "of today"}')
        (target / "new.json").write_text("{}")

    let_run(monkeypatch, chat)
    declared = made.assets / "toy.toml"
    declared.write_text(declared.read_text() + "\n[texts]\n'config.json' = '{}'\n")
    folder = pull("toy")
    assert file_hashes(folder).keys() == {"made.txt", "config.json"}
    assert (folder / "config.json").read_text() == "{}"


@pytest.mark.parametrize("free", [3, 1000], ids=["too little room", "full on the way"])
def test_a_disk_that_is_full_leaves_nothing(
    made: Any, monkeypatch: pytest.MonkeyPatch, free: int
) -> None:
    def fail(source: Path, target: Path, say: Callable[[str], None]) -> None:
        (target / "half").write_text("ON")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    let_run(monkeypatch, fail)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    with pytest.raises(AssetError, match="is full; make room, or set FABULA_HOME"):
        pull("toy")
    assert made.left_in_store() == []


def test_whoever_watches_is_told_that_it_converts(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_run(monkeypatch, to_capitals)
    with watched() as watching:
        pull("toy")
    assert "converting toy" in watching.told


def test_what_was_made_is_carried_without_being_made_again(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, file = pull("toy"), made.root / "assets.tar"
    before = read_manifest(folder, get_asset("toy"))
    export_assets(["toy"], file)
    remove("toy")
    let_run(monkeypatch, to_capitals, "no_such_package")
    assert import_assets(file) == ["toy"]
    after = read_manifest(path_of("toy"), get_asset("toy"))
    assert before is not None
    assert after is not None
    assert (after.tree_sha256, after.made_with) == (before.tree_sha256, before.made_with)
    assert verify("toy").state == "ok"


def test_what_was_made_and_changed_on_the_way_is_refused(made: Any) -> None:
    pull("toy")
    file = made.root / "assets.tar"
    export_assets(["toy"], file)
    remove("toy")
    file.write_bytes(file.read_bytes().replace(b"ONCE", b"0NCE"))
    with pytest.raises(AssetError, match="not the pinned content"):
        import_assets(file)
    assert made.left_in_store() == []


def test_a_folder_with_the_source_is_converted_and_one_already_made_is_taken(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, copy = made.root / "source", made.root / "copy"
    (source / "data/deep").mkdir(parents=True)
    (source / "data/a.txt").write_bytes(b"once")
    (source / "data/deep/b.txt").write_bytes(b"upon")
    shutil.copytree(add("toy", source), copy)
    remove("toy")
    let_run(monkeypatch, to_capitals, "no_such_package")
    with pytest.raises(PackageMissing):
        add("toy", source)
    assert (add("toy", copy) / "made.txt").read_text() == "ONCE"
    assert verify("toy").state == "ok"
    assert made.downloads == 0


def test_a_folder_of_the_users_holds_what_is_pinned_or_is_refused(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = made.root / "mine" / "toy"
    shutil.copytree(pull("toy"), mine)
    remove("toy")
    monkeypatch.setenv("FABULA_ASSETS", str(mine.parent))
    assert path_of("toy") == mine
    (mine / "made.txt").write_text("0NCE")
    with pytest.raises(AssetError, match="its content has another digest"):
        path_of("toy")
