from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabula.cli import models
from fabula.cli.models import command
from fabula.core.errors import PackageMissing, UnknownName
from fabula.core.installation import spell_install
from fabula.models import AssetError
from fabula.models.store import asset, convert, fetch

TEXT = b"once upon a time"


@pytest.fixture(autouse=True)
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One declared asset, `toy`, whose wheel pip would give; gives its folder in the store."""
    wheel = tmp_path / "toy.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("pkg/tale.txt", TEXT)
    tree = asset.tree_sha256({"tale.txt": hashlib.sha256(TEXT).hexdigest()})
    declared = tmp_path / "declared"
    declared.mkdir()
    (declared / "toy.toml").write_text(
        f'name = "toy"\ntitle = "A toy"\nlicence = "CC0-1.0"\nsource = "a test"\n'
        f'used_for = "tests"\ntree_sha256 = "{tree}"\nsize = {len(TEXT)}\n'
        '[[places]]\nkind = "wheel"\npackage = "toy"\nversion = "1"\n'
        f'sha256 = "{hashlib.sha256(wheel.read_bytes()).hexdigest()}"\n'
        'members = [{ from = "pkg/", to = "" }]\n'
    )
    for variable in ("FABULA_OFFLINE", "FABULA_ASSETS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(asset, "FOLDER", declared)
    monkeypatch.setattr(fetch, "fetch_wheel", lambda _, work: Path(shutil.copy(wheel, work)))
    return tmp_path / "home" / "assets" / f"toy-{tree[:12]}"


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words], catch_exceptions=False)


def test_pull_prints_the_folder_and_keeps_progress_apart(toy: Path) -> None:
    done = run("pull", "toy")
    assert done.stdout == f"{toy}\n"
    assert done.stderr == "toy: getting 0.0 MB from package toy==1\n"
    assert run("pull", "--all", "--quiet").stderr == ""


def test_pull_wants_names_or_all_but_not_both() -> None:
    assert run("pull").exit_code == run("pull", "toy", "--all").exit_code == 2


def test_pull_checks_every_name_before_it_begins(toy: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'toy'"):
        run("pull", "toy", "toyy")
    assert not toy.exists()


def test_list_shows_the_state_in_every_format() -> None:
    row = {"name": "toy", "licence": "CC0-1.0", "size": len(TEXT)}
    expected = {**row, "state": "absent", "metrics": [], "used_for": "tests"}
    assert json.loads(run("list", "-f", "json").stdout) == [expected]
    run("pull", "toy")
    expected["state"] = "here"
    assert json.loads(run("list", "-f", "jsonl").stdout) == expected
    written = run("list", "-f", "csv").stdout
    assert list(csv.DictReader(io.StringIO(written))) == [
        {**expected, "size": str(len(TEXT)), "metrics": ""}
    ]
    table = [line for line in run("list").stdout.splitlines() if line.strip(" ─")]
    assert table[0].split() == ["name", "licence", "size", "state", "metrics", "used", "for"]
    assert table[1].split() == ["toy", "CC0-1.0", "0.0", "MB", "here", "tests"]


def test_list_tells_the_users_own_folder_and_a_wrong_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tale = tmp_path / "mine" / "toy" / "tale.txt"
    tale.parent.mkdir(parents=True)
    tale.write_bytes(TEXT)
    monkeypatch.setenv("FABULA_ASSETS", str(tmp_path / "mine"))
    assert json.loads(run("list", "-f", "jsonl").stdout)["state"] == "yours"
    tale.write_bytes(TEXT + b"!")
    assert json.loads(run("list", "-f", "jsonl").stdout)["state"] == "damaged"


def test_verify_prints_a_line_each_and_fails_on_damage(toy: Path) -> None:
    assert run("verify").stdout == "toy\tabsent\n"
    with pytest.raises(AssetError, match="not here: toy; run: fabula models pull toy"):
        run("verify", "toy")
    run("pull", "toy")
    assert run("verify", "toy").stdout == "toy\tok\n"
    (toy / "tale.txt").write_bytes(b"twice")
    done = CliRunner().invoke(command, ["verify"])
    assert done.stdout == "toy\tdamaged\tchanged: tale.txt\n"
    assert str(done.exception) == (
        "damaged: toy; run: fabula models remove toy && fabula models pull toy"
    )


def test_where_prints_the_store_or_the_folder(toy: Path) -> None:
    assert run("where").stdout == f"{toy.parent}\n"
    with pytest.raises(AssetError, match="is not here"):
        run("where", "toy")
    run("pull", "toy")
    assert run("where", "toy").stdout == f"{toy}\n"


def test_what_is_exported_can_be_imported_after_it_was_removed(toy: Path, tmp_path: Path) -> None:
    file = tmp_path / "assets.tar"
    run("pull", "toy")
    assert run("export", file, "toy").stdout == f"{file}\n"
    assert run("remove", "toy").stderr == "toy: removed\n"
    assert not toy.exists()
    done = run("import", file)
    assert (done.stdout, done.stderr) == (f"{toy}\n", "toy: importing\n")
    assert (toy / "tale.txt").read_bytes() == TEXT


def test_list_names_the_metrics_that_use_an_asset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_metrics_by_asset", lambda: {"toy": ["one", "two"]})
    assert json.loads(run("list", "-f", "jsonl").stdout)["metrics"] == ["one", "two"]
    assert "one two" in run("list", "-f", "csv").stdout
    assert "metrics    one, two" in run("show", "toy").stdout


def test_wordnet_is_used_by_meteor() -> None:
    assert "meteor" in models._metrics_by_asset()["wordnet"]


def test_show_tells_all_that_is_known(toy: Path) -> None:
    run("pull", "toy")
    shown = run("show", "toy").stdout
    assert shown.startswith("A toy\n")
    for fact in ("CC0-1.0", "a test", "here", str(toy), "package toy==1"):
        assert fact in shown
    with pytest.raises(UnknownName, match="did you mean 'toy'"):
        run("show", "tyo")


def test_all_leaves_out_what_needs_a_missing_package_and_says_so(
    tmp_path: Path, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = tmp_path / "declared" / "toy.toml"
    keys = 'convert = "gguf"\nconverted_size = 1\nsize ='
    declared.write_text(declared.read_text().replace("size =", keys))
    monkeypatch.setattr(convert, "find_spec", lambda name: None)
    done = run("pull", "--all", "--quiet")
    command = f"{spell_install('models')}, after the build of torch that fits your machine"
    note = f"toy: left out, torch is not installed; run: {command}\n"
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", note)
    assert not toy.exists()
    with pytest.raises(PackageMissing, match="torch"):
        run("pull", "toy")


def test_all_but_some(toy: Path) -> None:
    assert run("pull", "--all", "--except", "toy").stdout == ""
    assert not toy.exists()
    with pytest.raises(UnknownName):
        run("pull", "--all", "--except", "tyo")


def test_a_folder_of_the_users_is_taken_into_the_store(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_OFFLINE", "1")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "tale.txt").write_bytes(TEXT)
    for words in (("add", "toy", mine), ("pull", "toy", "--from", mine)):
        assert run(*words).stdout == f"{toy}\n"
        run("remove", "toy")


def test_all_exports_what_is_here_and_names_what_is_not(toy: Path, tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="no asset is here"):
        run("export", tmp_path / "none.tar", "--all")
    declared = tmp_path / "declared"
    text = (declared / "toy.toml").read_text()
    (declared / "zoo.toml").write_text(text.replace('name = "toy"', 'name = "zoo"'))
    run("pull", "toy")
    done = run("export", tmp_path / "assets.tar", "--all", "--quiet")
    assert done.stderr == "zoo: left out, it is not here\n"
    assert run("import", tmp_path / "assets.tar", "--quiet").stdout == f"{toy}\n"
