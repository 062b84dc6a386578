"""Names that stand for something elsewhere, and those of this machine that look as if they did."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.addresses import Folder, drop_scheme, list_matches, open_place, refuse_address
from fabula.core.errors import InputError, UserError


@pytest.mark.parametrize("scheme", ["file://", "local://"])
def test_an_address_of_this_disk_is_its_plain_path(scheme: str, tmp_path: Path):
    assert drop_scheme(f"{scheme}{tmp_path}/a.jsonl") == f"{tmp_path}/a.jsonl"
    place = open_place(f"{scheme}{tmp_path}/run")
    place.write("run.json", b"{}")
    assert isinstance(place, Folder) and (tmp_path / "run" / "run.json").read_bytes() == b"{}"
    for number in range(2):
        (tmp_path / f"in-{number}.jsonl").touch()
    found = list_matches(f"{scheme}{tmp_path}/in-*.jsonl")
    assert found == [f"{tmp_path}/in-{number}.jsonl" for number in range(2)]


def test_other_names_stay_as_they_are():
    for name in ("s3://bucket/a", "a.jsonl", "/tmp/file://a", "files://a"):
        assert drop_scheme(name) == name


def test_files_in_a_store_keep_the_name_by_which_they_are_opened():
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe_file("/stories/in-0.jsonl", b"{}")
    try:
        [found] = list_matches("memory://stories/in-*.jsonl")
        assert files.cat_file(files._strip_protocol(found)) == b"{}"
        assert found.startswith("memory://")
    finally:
        files.rm("/stories", recursive=True)


def test_an_address_is_refused_where_only_a_disk_will_do():
    with pytest.raises(InputError, match=r"^s3://b/run is an address, and this is read from a"):
        refuse_address(Path("s3://b/run"))
    with pytest.raises(UserError, match=r"^s3://b/x is an address, and this is written to a disk"):
        refuse_address(Path("s3://b/x"), is_output=True)
    refuse_address(Path("runs/s3"))
