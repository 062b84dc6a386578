"""Digests of what converted files hold: other bytes may say the same, one other number may not."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.models.store.content import content_hashes

TENSORS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(4, dtype=np.float16)}
KINDS = {"float32": "F32", "float16": "F16", "float64": "F64"}


def write(path: Path, tensors: dict[str, Any], header: dict[str, Any] | None = None) -> None:
    """Write a safetensors file by hand, tensors in the order they come."""
    entries, data = dict(header or {}), b""
    for name, array in tensors.items():
        raw = array.tobytes()
        offsets = [len(data), len(data) + len(raw)]
        entries[name] = {
            "dtype": KINDS[str(array.dtype)],
            "shape": list(array.shape),
            "data_offsets": offsets,
        }
        data += raw
    text = json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def digest(folder: Path, name: str = "model.safetensors") -> str:
    return content_hashes(folder)[name]


def test_order_and_metadata_of_tensors_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    write(path, TENSORS)
    first = digest(tmp_path)
    write(path, dict(reversed(TENSORS.items())), {"__metadata__": {"format": "pt"}})
    assert digest(tmp_path) == first


@pytest.mark.parametrize(
    "changes",
    [
        {"a": TENSORS["a"] + np.float32(1e-6)},
        {"a": TENSORS["a"].reshape(3, 2)},
        {"a": TENSORS["a"].astype(np.float64)},
        {"c": TENSORS["a"]},
    ],
    ids=["value", "shape", "type", "one more"],
)
def test_values_shapes_types_and_names_of_tensors_matter(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    path = tmp_path / "model.safetensors"
    write(path, TENSORS)
    first = digest(tmp_path)
    write(path, TENSORS | changes)
    assert digest(tmp_path) != first


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        struct.pack("<Q", 1 << 60) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 9) + b'{"a": 5}\n',
        struct.pack("<Q", 17) + b'{"a": {}, "a":{}}',
    ],
    ids=["empty", "huge header", "a list", "no tensor", "a name twice"],
)
def test_what_is_no_file_of_tensors_has_the_digest_of_its_bytes(tmp_path: Path, raw: bytes) -> None:
    for name in ("model.safetensors", "plain"):
        (tmp_path / name).write_bytes(raw)
    assert digest(tmp_path) == digest(tmp_path, "plain")


def test_a_tokeniser_is_the_same_however_its_version_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    model = {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
    path.write_text(json.dumps({"model": model}))
    first = digest(tmp_path, path.name)
    newer = {"model": {"byte_fallback": False, **model, "merges": [["a", "b"]]}, "padding": None}
    path.write_text(json.dumps(newer, indent=2))
    assert digest(tmp_path, path.name) == first
    for wrong in ({"vocab": {"a": 1, "b": 0, "ab": 2}}, {"merges": ["b a"]}, {"unk": "a"}):
        path.write_text(json.dumps({"model": model | wrong}))
        assert digest(tmp_path, path.name) != first
