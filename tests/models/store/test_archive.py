from __future__ import annotations

import errno
import io
import json
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fabula.models import (
    AssetError,
    export_assets,
    get_asset,
    import_assets,
    pull,
    remove,
    verify,
)
from fabula.models.store import archive


def write_tar(path: Path, files: Mapping[str, bytes], **index: str) -> Path:
    """Make a tar file by hand that says it holds the toy."""
    row = {"name": "toy", "tree_sha256": get_asset("toy").tree_sha256, **index}
    listed = {"fabula-assets.json": json.dumps({"assets": [row]}).encode(), **files}
    with tarfile.open(path, "w") as tar:
        for name, data in listed.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return path


def test_an_exported_asset_comes_back_whole(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pull("toy")
    file = toy.root / "assets.tar"
    export_assets(["toy"], file)
    remove("toy")
    monkeypatch.setenv("FABULA_OFFLINE", "1")
    said: list[str] = []
    assert import_assets(file, said.append) == ["toy"]
    assert verify("toy").state == "ok"
    assert import_assets(file, said.append) == ["toy"]
    assert said == ["toy: importing", "toy: already here"]
    assert toy.downloads == 1


def test_two_exports_of_the_same_assets_are_the_same_bytes(toy: Any) -> None:
    pull("toy")
    one, two = toy.root / "one.tar", toy.root / "two.tar"
    export_assets(["toy"], one)
    export_assets(["toy"], two)
    assert one.read_bytes() == two.read_bytes()
    with tarfile.open(one, "r:") as tar:
        assert tar.getnames() == ["fabula-assets.json", "toy/data/a.txt", "toy/data/deep/b.txt"]


def test_an_absent_or_damaged_asset_is_not_exported(toy: Any) -> None:
    file = toy.root / "assets.tar"
    with pytest.raises(AssetError, match="fabula models pull toy"):
        export_assets(["toy"], file)
    (pull("toy") / "data/a.txt").write_bytes(b"0nce")
    with pytest.raises(AssetError, match=r"is damaged .*run: fabula models remove toy"):
        export_assets(["toy"], file)
    assert not file.exists()


def test_an_export_on_a_full_disk_leaves_no_file(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    pull("toy")
    before = set(toy.root.iterdir())
    monkeypatch.setattr(archive, "_add_folder", fail)
    with pytest.raises(AssetError, match="make room, or write to another folder"):
        export_assets(["toy"], toy.root / "assets.tar")
    assert set(toy.root.iterdir()) == before


def test_other_content_does_not_get_in(toy: Any) -> None:
    file = write_tar(toy.root / "bad.tar", {"toy/data/a.txt": b"evil"})
    with pytest.raises(AssetError, match="not the pinned content"):
        import_assets(file)
    assert toy.left_in_store() == []


@pytest.mark.parametrize("evil", ["toy/../../evil", "toy//../../evil", "toy/d/../../evil"])
def test_a_path_in_the_file_that_leads_elsewhere_is_refused(toy: Any, evil: str) -> None:
    with pytest.raises(AssetError, match="leads out"):
        import_assets(write_tar(toy.root / "bad.tar", {evil: b"evil"}))
    assert not list(toy.root.rglob("evil"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_what_is_not_a_plain_file_is_refused(toy: Any, kind: bytes) -> None:
    file = write_tar(toy.root / "bad.tar", {})
    with tarfile.open(file, "a") as tar:
        entry = tarfile.TarInfo("toy/data/a.txt")
        entry.type, entry.linkname = kind, "/etc/passwd"
        tar.addfile(entry)
    with pytest.raises(AssetError, match="not a plain file"):
        import_assets(file)
    assert toy.left_in_store() == []


def test_an_asset_that_is_too_large_is_not_unpacked(toy: Any) -> None:
    file = write_tar(toy.root / "bad.tar", {"toy/data/a.txt": bytes(10_000)})
    with pytest.raises(AssetError, match="larger than it should be"):
        import_assets(file)


def test_an_asset_this_version_does_not_know_is_left_out(toy: Any) -> None:
    said: list[str] = []
    file = write_tar(toy.root / "other.tar", {}, name="../evil")
    with pytest.raises(AssetError, match="holds no asset of this version"):
        import_assets(file, said.append)
    file = write_tar(toy.root / "older.tar", {}, tree_sha256="0" * 64)
    with pytest.raises(AssetError, match="holds no asset of this version"):
        import_assets(file, said.append)
    assert said == [
        "../evil: left out, no asset of this version is called so",
        "toy: left out, this version pins other content",
    ]


def test_half_a_file_is_refused(toy: Any) -> None:
    pull("toy")
    file = toy.root / "assets.tar"
    export_assets(["toy"], file)
    remove("toy")
    file.write_bytes(file.read_bytes()[:2600])
    with pytest.raises(AssetError):
        import_assets(file)
    file.write_bytes(b"no tar file at all" * 100)
    with pytest.raises(AssetError, match="not a whole tar file"):
        import_assets(file)
    assert toy.left_in_store() == []


def test_a_file_that_is_not_there_is_one_line(toy: Any) -> None:
    with pytest.raises(AssetError, match="No such file"):
        import_assets(toy.root / "none.tar")


@pytest.mark.parametrize("index", [b"", b"[]", b'{"assets": [{}]}', b'{"assets": 3}'])
def test_an_index_that_cannot_be_read_is_refused(toy: Any, index: bytes) -> None:
    file = toy.root / "bad.tar"
    with tarfile.open(file, "w") as tar:
        entry = tarfile.TarInfo("fabula-assets.json")
        entry.size = len(index)
        tar.addfile(entry, io.BytesIO(index))
    with pytest.raises(AssetError, match="cannot be read"):
        import_assets(file)
