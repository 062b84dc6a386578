"""Assets from folders: one that the user names, and the project's own weights."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from fabula.models import AssetError, find, path_of, pull, remove, verify
from fabula.models.store.asset import FolderPlace, OursPlace, get_asset
from fabula.models.store.folder import add, folder_of

OURS = """
[[places]]
kind = "ours"
package = "made_up_weights"
folder = "toy"
"""
WEIGHTS = {"data/a.txt": b"once", "data/deep/b.txt": b"upon"}


def fill(folder: Path, **more: bytes) -> Path:
    for name, data in {**WEIGHTS, **more}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_a_folder_given_is_asked_first(toy: Any) -> None:
    said: list[str] = []
    folder = pull("toy", said.append, folder=fill(toy.root / "mine"))
    assert folder == folder_of(get_asset("toy"))
    assert verify("toy").state == "ok"
    assert toy.downloads == 0
    assert said == [f"toy: getting 0.0 MB from folder {toy.root / 'mine'}"]


def test_a_folder_given_may_hold_the_asset_under_its_name(toy: Any) -> None:
    fill(toy.root / "mine" / "toy")
    assert add("toy", toy.root / "mine") == path_of("toy")


def test_after_a_folder_with_other_content_the_places_are_asked(toy: Any) -> None:
    said: list[str] = []
    pull("toy", said.append, folder=fill(toy.root / "mine", more=b"than that"))
    assert toy.downloads == 1
    assert said[1] == "toy: what came is not the pinned content of 'toy'"


def test_adding_asks_no_other_place(toy: Any) -> None:
    with pytest.raises(AssetError) as caught:
        add("toy", fill(toy.root / "mine", more=b"than that"))
    reason = "asset 'toy' could not be had: what came is not the pinned content of 'toy'"
    assert str(caught.value) == reason
    with pytest.raises(AssetError, match="there is no folder"):
        add("toy", toy.root / "nowhere")
    assert toy.downloads == 0
    assert toy.left_in_store() == []


def test_a_folder_will_do_offline(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_OFFLINE", "1")
    with pytest.raises(AssetError, match="there is no folder"):
        pull("toy", folder=toy.root / "nowhere")
    pull("toy", folder=fill(toy.root / "mine"))
    assert toy.downloads == 0


def test_where_the_files_are_named_others_are_left(toy: Any) -> None:
    members = """[
        { from = "pkg/data/a.txt", to = "data/" },
        { from = "pkg/data/deep/b.txt", to = "data/deep/" },
    ]"""
    toy.declare(members=members)
    mine = fill(toy.root / "mine", more=b"than that")
    assert not (add("toy", mine) / "more").exists()
    remove("toy")
    (mine / "data/a.txt").unlink()
    with pytest.raises(AssetError, match=r"does not hold data/a.txt of 'toy'"):
        add("toy", mine)


def test_places_say_what_they_are() -> None:
    assert str(FolderPlace(Path("mine"))) == "folder mine"
    assert str(OursPlace("fabula_weights", "story_encoder")) == "package fabula-weights"


@pytest.fixture
def ours(toy: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The toy as an asset of our own weights, which are neither installed nor in a clone."""
    toy.declare()
    declared = toy.assets / "toy.toml"
    text = declared.read_text()
    declared.write_text(text[: text.index("[[places]]")] + OURS)
    monkeypatch.setattr("fabula.models.store.folder.SOURCE", toy.root / "clone" / "src")
    return toy


def install(ours: Any, monkeypatch: pytest.MonkeyPatch, **more: bytes) -> Path:
    site = ours.root / "site"
    fill(site / "made_up_weights" / "toy", **more)
    (site / "made_up_weights" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(site)
    return Path(site / "made_up_weights" / "toy")


def test_our_weights_are_read_where_they_are_installed(
    ours: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find(get_asset("toy")) is None
    folder = install(ours, monkeypatch)
    assert path_of("toy") == pull("toy") == folder
    assert verify("toy").state == "ok"
    assert ours.left_in_store() == []


@pytest.mark.parametrize("below", ["weights", "weights/src"])
def test_the_weights_of_a_clone_come_before_installed_ones(
    ours: Any, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    install(ours, monkeypatch)
    folder = fill(ours.root / "clone" / below / "made_up_weights" / "toy")
    assert path_of("toy") == folder


def test_only_a_clone_has_weights_beside_its_source(
    ours: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(ours.root / "clone" / "weights" / "made_up_weights" / "toy")
    monkeypatch.setattr("fabula.models.store.folder.SOURCE", ours.root / "clone" / "site-packages")
    assert find(get_asset("toy")) is None


def test_our_weights_that_are_not_there_name_the_package(ours: Any) -> None:
    with pytest.raises(AssetError, match=r"is not installed \(run: pip install \./weights\)"):
        pull("toy")
    assert verify("toy").state == "absent"
    assert ours.left_in_store() == []


def test_our_weights_of_another_version_are_refused(
    ours: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(ours, monkeypatch, more=b"than that")
    with pytest.raises(AssetError, match=r"run: pip install \S*weights"):
        path_of("toy")
    assert verify("toy").state == "damaged"


def test_our_weights_are_never_removed(ours: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = install(ours, monkeypatch)
    with pytest.raises(AssetError, match="remove it yourself"):
        remove("toy")
    assert folder.is_dir()


def test_a_copy_in_the_store_comes_before_our_weights(
    ours: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = add("toy", fill(ours.root / "mine"))
    install(ours, monkeypatch)
    assert path_of("toy") == copy
    shutil.rmtree(copy)
    assert path_of("toy") != copy
