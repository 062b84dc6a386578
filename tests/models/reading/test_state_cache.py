"""Vectors kept by content: exact, shared between processes, bounded, never in the way."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.models.reading.state_cache import (
    ArrayShards,
    VectorCache,
    clear_vectors,
    disk_limit,
    list_shards,
    vector_key,
    vectors_folder,
    vectors_size,
)

save = pytest.importorskip("safetensors.numpy").save

ROWS = np.arange(12, dtype=np.float32).reshape(3, 4) / 7
MB = 1_000_000


def kept(folder: Path, *, disk: int = MB, memory: int = 0) -> VectorCache:
    """A cache that has to go to the disk for everything, unless told otherwise."""
    return VectorCache(folder, disk=disk, memory=memory)


def test_a_key_depends_on_model_layer_and_text() -> None:
    keys = {
        vector_key("model", "1", "text"),
        vector_key("model", "2", "text"),
        vector_key("model 2", "1", "text"),
        vector_key("model", "1", "text."),
        vector_key("model", "1", "\ud800"),
    }
    assert len(keys) == 5


def test_what_was_put_is_found_exactly_by_another_process_s_cache(tmp_path: Path) -> None:
    kept(tmp_path).put({"a": ROWS, "b": ROWS[:1]})
    found = kept(tmp_path).get(["a", "b", "c"])
    assert set(found) == {"a", "b"}
    assert found["a"].dtype == np.float32
    assert np.array_equal(found["a"], ROWS)
    assert np.array_equal(found["b"], ROWS[:1])


def test_a_shard_written_after_the_first_look_is_found(tmp_path: Path) -> None:
    reader = kept(tmp_path)
    kept(tmp_path).put({"a": ROWS})
    assert set(reader.get(["a", "b"])) == {"a"}
    kept(tmp_path).put({"b": ROWS})
    os.utime(tmp_path, ns=(1, 1))  # A clock too coarse to tell two writes apart is no excuse.
    assert set(reader.get(["a", "b"])) == {"a", "b"}


def test_kept_arrays_cannot_be_written_to(tmp_path: Path) -> None:
    cache = kept(tmp_path, memory=MB)
    given = cache.put({"a": ROWS.copy()})["a"]
    for array in (given, cache.get(["a"])["a"], kept(tmp_path).get(["a"])["a"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 5


def test_memory_keeps_what_was_used_last_and_no_more_than_its_limit() -> None:
    cache = VectorCache(disk=0, memory=2 * ROWS.nbytes)
    cache.put({"a": ROWS, "b": ROWS})
    cache.get(["a"])
    cache.put({"c": ROWS})
    assert set(cache.get(["a", "b", "c"])) == {"a", "c"}


def test_half_a_file_is_ignored(tmp_path: Path) -> None:
    kept(tmp_path).put({"a": ROWS})
    (shard,) = list_shards(tmp_path)
    whole = shard.read_bytes()
    for length in (0, 5, len(whole) // 2, len(whole) - 1):
        shard.write_bytes(whole[:length])
        assert kept(tmp_path).get(["a"]) == {}


def test_a_shard_that_vanishes_is_made_again(tmp_path: Path) -> None:
    cache = kept(tmp_path)
    cache.put({"a": ROWS})
    assert clear_vectors(tmp_path) > 0
    assert cache.get(["a"]) == {}
    cache.put({"a": ROWS})
    assert set(cache.get(["a"])) == {"a"}


def test_the_folder_stays_within_its_limit_and_loses_what_was_used_longest_ago(
    tmp_path: Path,
) -> None:
    large = np.ones((1000, 25), np.float32)  # 100 kB, so that 10 of them are over the limit
    cache = kept(tmp_path)
    for number in range(9):
        cache.put({str(number): large})
        os.utime(cache_file(tmp_path, str(number)), ns=(number, number))
    assert vectors_size(tmp_path) > 0.9 * MB
    cache.get(["0"])
    cache.put({"9": large})
    assert vectors_size(tmp_path) <= 0.9 * MB
    found = cache.get([str(number) for number in range(10)])
    assert {"0", "9"} <= set(found)
    assert not {"1", "2"} & set(found)


def cache_file(folder: Path, key: str) -> Path:
    return next(shard for shard in list_shards(folder) if f'"{key}"'.encode() in shard.read_bytes())


def test_a_disk_that_refuses_is_no_reason_to_stop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "in the way"
    file.write_text("a file where the folder should be")
    cache = kept(file, memory=MB)
    with caplog.at_level(logging.WARNING, "fabula"):
        cache.put({"a": ROWS})
        cache.put({"b": ROWS})
    assert set(cache.get(["a", "b"])) == {"a", "b"}
    assert len(caplog.records) == 1
    assert "FABULA_VECTORS_MB=0" in caplog.text


def test_a_full_disk_leaves_nothing_half_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    assert np.array_equal(kept(tmp_path).put({"a": ROWS})["a"], ROWS)
    assert list(tmp_path.iterdir()) == []


def test_two_processes_that_write_at_once_do_no_harm(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
import numpy as np
from fabula.models.reading.state_cache import VectorCache
cache = VectorCache(Path(sys.argv[1]), disk=200_000, memory=0)
for number in range(30):
    cache.put({f"{sys.argv[2]} {number}": np.full((100, 25), number, np.float32)})
    for other in ("a", "b"):
        for key, rows in cache.get(f"{other} {n}" for n in range(number)).items():
            assert rows.shape == (100, 25) and (rows == int(key.split()[1])).all()
"""
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in ("a", "b")
    ]
    assert [run.wait(timeout=120) for run in runs] == [0, 0]
    assert vectors_size(tmp_path) <= 220_000


def test_the_limit_can_be_set_and_has_to_be_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_VECTORS_MB", "3")
    assert disk_limit() == 3 * MB
    monkeypatch.setenv("FABULA_VECTORS_MB", "much")
    with pytest.raises(SettingError, match="whole number"):
        disk_limit()


def test_vectors_lie_in_the_cache_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    assert vectors_folder() == tmp_path / "cache" / "vectors-v1"
    assert vectors_size() == clear_vectors() == 0


def test_a_shard_in_which_a_bit_was_flipped_is_not_used_and_goes(tmp_path: Path) -> None:
    states = np.arange(12, dtype=np.float32).reshape(3, 4) / 7
    for place in range(8):
        ArrayShards(tmp_path, 10**6).write({"key": states})
        [shard] = list_shards(tmp_path)
        raw = bytearray(shard.read_bytes())
        raw[-1 - 5 * place] ^= 1 << place  # the numbers lie at the end of the file
        shard.write_bytes(raw)
        assert ArrayShards(tmp_path, 10**6).read(["key"]) == {}
        assert list_shards(tmp_path) == []


def test_a_shard_of_an_older_version_without_checksums_is_not_used_and_goes(
    tmp_path: Path,
) -> None:
    states = np.ones((3, 4), np.float32)
    (tmp_path / "old.safetensors").write_bytes(save({"key": states}))
    shards = ArrayShards(tmp_path, 10**6)
    assert shards.read(["key"]) == {}
    assert list_shards(tmp_path) == []
    shards.write({"key": states})
    np.testing.assert_array_equal(ArrayShards(tmp_path, 10**6).read(["key"])["key"], states)
