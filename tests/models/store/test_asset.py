from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fabula.core.errors import UnknownName
from fabula.models import AssetError, asset_names, get_asset
from fabula.models.store.asset import (
    MANIFEST,
    HubPlace,
    Member,
    PartsPlace,
    WheelPlace,
    file_hashes,
    resolve_inside,
    tree_sha256,
)
from fabula.models.store.convert import CONVERSIONS

SHA256 = re.compile("[0-9a-f]{64}")


@pytest.mark.parametrize("name", asset_names())
def test_every_declared_asset_is_pinned_whole(name: str) -> None:
    one = get_asset(name)
    assert one.name == name
    assert re.fullmatch("[a-z][a-z0-9_]*", name)
    assert SHA256.fullmatch(one.tree_sha256)
    assert one.size > 0
    assert one.places
    lines = (one.title, one.licence, one.source, one.used_for)
    assert all(line and "\n" not in line for line in lines)


@pytest.mark.parametrize("name", asset_names())
def test_every_place_of_an_asset_is_pinned(name: str) -> None:
    for place in get_asset(name).places:
        if isinstance(place, WheelPlace):
            assert SHA256.fullmatch(place.sha256)
            assert place.members
        elif isinstance(place, PartsPlace):
            assert all(SHA256.fullmatch(part.sha256) for part in place.parts)
            assert place.members
        elif isinstance(place, HubPlace):
            assert re.fullmatch("[0-9a-f]{40}", place.revision)
            assert place.files


@pytest.mark.parametrize("name", asset_names())
def test_every_conversion_is_known_and_says_how_much_it_makes(name: str) -> None:
    one = get_asset(name)
    assert one.convert in ("", *CONVERSIONS)
    assert bool(one.convert) == bool(one.converted_size) == bool(one.converted)


def test_files_are_named_where_a_place_names_each() -> None:
    assert get_asset("t5_titles").file_names() == ("decoder.onnx", "encoder.onnx", "tokenizer.json")
    assert "1_Pooling/config.json" in get_asset("minilm").file_names()
    assert get_asset("wordnet").file_names() == ()


def test_the_first_assets_are_declared() -> None:
    first = {"glove_50d", "minilm", "punkt_tab", "spacy_small", "wordnet"}
    assert first | {"smollm2", "t5_titles"} <= set(asset_names())


def test_an_unknown_name_gives_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match="did you mean 'wordnet'"):
        get_asset("wordnt")


@pytest.mark.parametrize(
    ("source", "to", "name", "target"),
    [
        ("p/data/", "x/", "p/data/d/f.txt", "x/d/f.txt"),
        ("p/data/", "", "p/data/f.txt", "f.txt"),
        ("p/data/", "x/", "p/database/f.txt", None),
        ("p/*.json", "x/", "p/f.json", "x/f.json"),
        ("p/*.json", "x/", "p/d/f.json", None),
        ("p/f.json", "", "p/f.json", "f.json"),
        ("p/f.json", "x/g.json", "p/f.json", "x/g.json"),
        ("p/f.json", "x/", "p/g.json", None),
    ],
)
def test_a_member_says_where_a_file_goes(
    source: str, to: str, name: str, target: str | None
) -> None:
    assert Member(source, to).target_of(name) == target


@pytest.mark.parametrize("path", ["../a", "a/../../b", "/a", "a\\b", "c:/a", "a\0b", "", "."])
def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(AssetError, match="leads out"):
        resolve_inside(Path("root"), path)


def test_the_tree_digest_is_that_of_the_sorted_lines(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "b").write_bytes(b"2")
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / MANIFEST).write_bytes(b"is left out")
    one, two = (hashlib.sha256(data).hexdigest() for data in (b"1", b"2"))
    by_hand = hashlib.sha256(f"a\0{one}\nd/b\0{two}\n".encode()).hexdigest()
    assert tree_sha256(file_hashes(tmp_path)) == by_hand


def test_importing_the_store_loads_only_the_standard_library_and_core() -> None:
    code = (
        "import sys; before = set(sys.modules); import fabula.models\n"
        "names = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(names - set(sys.stdlib_module_names) - {'fabula'})"
    )
    source = Path(__file__).parents[3] / "src"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": source}
    )
    assert done.stdout.strip() == "set()", done.stderr
