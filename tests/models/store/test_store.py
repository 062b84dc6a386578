from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabula.models import AssetError, get_asset, path_of, pull, remove, verify
from fabula.models.store.asset import MANIFEST
from fabula.models.store.folder import folder_of

SOURCE = Path(__file__).parents[3] / "src"


def test_a_pull_publishes_the_members_and_nothing_else(toy: Any) -> None:
    folder = pull("toy")
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert names == {"data/a.txt", "data/deep/b.txt", MANIFEST}
    assert (folder / "data/a.txt").read_bytes() == b"once"
    assert toy.left_in_store() == [folder.name]
    assert folder.name == f"toy-{get_asset('toy').tree_sha256[:12]}"


def test_a_second_pull_downloads_nothing(toy: Any) -> None:
    said: list[str] = []
    assert pull("toy", said.append) == pull("toy", said.append) == path_of("toy")
    assert toy.downloads == 1
    assert said == ["toy: getting 0.0 MB from package toy==1.0", "toy: already here"]


def test_an_absent_asset_names_the_command_that_gets_it(toy: Any) -> None:
    with pytest.raises(AssetError) as caught:
        path_of("toy")
    assert str(caught.value) == "asset 'toy' is not here; run: fabula models pull toy"


def test_a_wrong_hash_is_refused_and_nothing_is_published(toy: Any) -> None:
    toy.make_wheel({"pkg/data/a.txt": b"another"})
    with pytest.raises(AssetError, match="another SHA-256 than the pinned one"):
        pull("toy")
    assert toy.left_in_store() == []


def test_other_content_in_the_right_wheel_is_refused(toy: Any) -> None:
    toy.declare(content={"data/a.txt": b"never"})
    with pytest.raises(AssetError, match="not the pinned content"):
        pull("toy")
    assert toy.left_in_store() == []


def test_half_a_wheel_is_refused(toy: Any) -> None:
    toy.wheel.write_bytes(toy.wheel.read_bytes()[:-40])
    with pytest.raises(AssetError, match="another SHA-256"):
        pull("toy")
    toy.declare()
    with pytest.raises(AssetError, match="not a whole wheel"):
        pull("toy")
    assert toy.left_in_store() == []


@pytest.mark.parametrize("evil", ["pkg/data/../../../evil", "pkg/data/d/../../e"])
def test_a_member_that_leads_out_of_the_folder_is_refused(toy: Any, evil: str) -> None:
    toy.make_wheel({evil: b"evil"})
    toy.declare()
    with pytest.raises(AssetError, match="leads out"):
        pull("toy")
    assert toy.left_in_store() == []
    assert not list(toy.root.rglob("evil"))


def test_a_link_in_a_wheel_is_refused(toy: Any) -> None:
    link = zipfile.ZipInfo("pkg/data/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(toy.wheel, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    toy.declare()
    with pytest.raises(AssetError, match="is a link"):
        pull("toy")


def test_a_wheel_without_the_member_is_refused(toy: Any) -> None:
    toy.declare(members='[{ from = "pkg/none/", to = "" }]')
    with pytest.raises(AssetError, match="holds no 'pkg/none/'"):
        pull("toy")


def test_a_full_disk_is_one_line_and_nothing_is_published(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfileobj", fail)
    with pytest.raises(AssetError, match="is full; make room, or set FABULA_HOME") as caught:
        pull("toy")
    assert "\n" not in str(caught.value)
    assert toy.left_in_store() == []


def test_a_store_that_cannot_be_written_is_one_line(toy: Any) -> None:
    (toy.root / "home").write_bytes(b"a file where the folder should be")
    with pytest.raises(AssetError, match=r"cannot use .* set FABULA_HOME"):
        pull("toy")


def test_offline_refuses_the_network_and_names_the_remedy(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_OFFLINE", "1")
    for act in (pull, path_of):
        with pytest.raises(AssetError) as caught:
            act("toy")
        assert str(caught.value).endswith(
            "; with a network run: fabula models pull toy && fabula models export toy.tar toy,"
            " then here: fabula models import toy.tar"
            " (or name a folder that has it in FABULA_ASSETS)"
        )
    assert toy.downloads == 0


def test_offline_still_gives_what_is_here(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = pull("toy")
    monkeypatch.setenv("FABULA_OFFLINE", "1")
    assert pull("toy") == folder


def test_verify_says_ok_damaged_with_the_files_and_absent(toy: Any) -> None:
    assert verify("toy").state == "absent"
    folder = pull("toy")
    assert verify("toy").state == "ok"
    (folder / "data/a.txt").write_bytes(b"0nce")
    (folder / "data/deep/b.txt").unlink()
    (folder / "new").write_bytes(b"")
    check = verify("toy")
    assert check.state == "damaged"
    assert check.detail == "changed: data/a.txt; missing: data/deep/b.txt; extra: new"


@pytest.mark.parametrize("manifest", ["", "{}", "[]", '{"files": {"a": "b"}}', '{"files": 3}'])
def test_a_manifest_that_is_damaged_too_is_not_believed(toy: Any, manifest: str) -> None:
    folder = pull("toy")
    (folder / "data/a.txt").write_bytes(b"0nce")
    (folder / MANIFEST).write_text(manifest)
    assert verify("toy").detail == "no manifest tells which file"


def test_remove_takes_every_version_out_and_leaves_nothing_behind(toy: Any) -> None:
    folder = pull("toy")
    folder.with_name("toy-0123456789ab").mkdir()
    folder.with_name("toy-else").mkdir()
    remove("toy")
    assert toy.left_in_store() == ["toy-else"]
    with pytest.raises(AssetError, match="is not in the store"):
        remove("toy")


def own(toy: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = toy.root / "mine" / "toy"
    shutil.copytree(pull("toy"), folder)
    (folder / MANIFEST).unlink()
    remove("toy")
    paths = os.pathsep.join(["", str(toy.root / "nowhere"), str(folder.parent)])
    monkeypatch.setenv("FABULA_ASSETS", paths)
    return Path(folder)


def test_a_folder_of_the_users_is_read_in_place(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = own(toy, monkeypatch)
    assert path_of("toy") == pull("toy") == folder
    assert verify("toy").state == "ok"
    assert toy.downloads == 1


def test_a_folder_of_the_users_with_other_content_is_an_error(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = own(toy, monkeypatch)
    assert path_of("toy") == folder
    (folder / "data/a.txt").write_bytes(b"another")
    for act in (path_of, pull):
        with pytest.raises(AssetError, match=r"is not the asset 'toy'.*FABULA_ASSETS"):
            act("toy")
    assert verify("toy").state == "damaged"


def test_a_folder_of_the_users_is_never_removed(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = own(toy, monkeypatch)
    with pytest.raises(AssetError, match="remove it yourself"):
        remove("toy")
    assert folder.is_dir()


SCRIPT = """
import shutil, sys, time
from pathlib import Path
from fabula.models import pull
from fabula.models.store import asset, fetch

root, me, others = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]

def fetch_wheel(place, work):
    (root / f"ready-{me}").touch()
    while not all((root / f"ready-{other}").exists() for other in others):
        time.sleep(0.01)
    return Path(shutil.copy(root / "toy-1.0-py3-none-any.whl", work))

asset.FOLDER = root / "declared"
fetch.fetch_wheel = fetch_wheel
print(pull("toy"))
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(toy: Any) -> Start:
    """Start a process that pulls the toy once the others it waits for have begun."""

    def run(me: str, *others: str) -> subprocess.Popen[str]:
        order = [sys.executable, "-c", SCRIPT, str(toy.root), me, *others]
        env = {**os.environ, "PYTHONPATH": str(SOURCE)}
        return subprocess.Popen(order, stdout=subprocess.PIPE, text=True, env=env)

    return run


def test_two_pulls_at_once_publish_one_folder(toy: Any, start: Start) -> None:
    both = [start("one", "two"), start("two", "one")]
    said = [process.communicate(timeout=60)[0].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert said == [str(folder_of(get_asset("toy")))] * 2
    assert toy.left_in_store() == [folder_of(get_asset("toy")).name]
    assert verify("toy").state == "ok"


def test_a_killed_pull_leaves_only_what_the_next_one_sweeps(toy: Any, start: Start) -> None:
    with start("one", "never") as process:
        while not (toy.root / "ready-one").exists():
            assert process.poll() is None
        process.kill()
    assert [name.split("@")[0] for name in toy.left_in_store()] == [".toy"]
    folder = pull("toy")
    assert toy.left_in_store() == [folder.name]


def test_what_a_living_process_or_another_machine_builds_is_left_alone(toy: Any) -> None:
    host, me = socket.gethostname(), os.getpid()
    kept = {f".toy@{host}@{me}@x", ".toy@elsewhere@1@x", f".toy@{host}@1@x", f".toy@{host}@?@x"}
    for name in kept:
        (toy.store / name).mkdir(parents=True)
    folder = pull("toy")
    assert set(toy.left_in_store()) == kept | {folder.name}


def test_the_manifest_lists_every_file(toy: Any) -> None:
    manifest = json.loads((pull("toy") / MANIFEST).read_text())
    assert set(manifest["files"]) == {"data/a.txt", "data/deep/b.txt"}
    assert manifest["tree_sha256"] == get_asset("toy").tree_sha256
