"""Files of weights as they are when something went wrong, or somebody wished it to."""

from __future__ import annotations

import json
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 3, 10**18, 1e308, float("nan"), float("inf"), "", "x", "\0", [], {}, [1],
    [[]], {"a": 1}, "../../etc/passwd", [None],
)  # fmt: skip


def tamper(folder: Path, random_: random.Random) -> str:
    """Spoil one file below a folder; say which and how."""
    path = random_.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    ways: list[Callable[[Path, random.Random], None]] = [_truncate, _flip, _replace, _remove]
    if path.suffix == ".json":
        ways += [_spoil_json] * 6
    if path.suffix == ".safetensors":
        ways += [_spoil_header] * 4 + [_spoil_length, _spoil_numbers]
    way = random_.choice(ways)
    way(path, random_)
    return f"{path.relative_to(folder)}: {way.__name__}"


def _truncate(path: Path, random_: random.Random) -> None:
    raw = path.read_bytes()
    path.write_bytes(raw[: random_.randrange(len(raw) + 1)])


def _flip(path: Path, random_: random.Random) -> None:
    raw = bytearray(path.read_bytes())
    for _ in range(random_.choice((1, 1, 8, 64))):
        if raw:
            raw[random_.randrange(len(raw))] = random_.randrange(256)
    path.write_bytes(raw)


def _replace(path: Path, random_: random.Random) -> None:
    junk = (b"", b"{}", b"[]", b"null", b"\x80\x04K\x01.", b"\xff\xfe\0", b"[" * 5000, b"0" * 9000)
    path.write_bytes(random_.choice(junk))


def _remove(path: Path, random_: random.Random) -> None:
    path.unlink()
    if random_.random() < 0.3:
        path.mkdir()


def _spoil_json(path: Path, random_: random.Random) -> None:
    value = json.loads(path.read_bytes())
    path.write_text(json.dumps(_spoil(value, random_)), encoding="utf-8")


def _spoil(value: Any, random_: random.Random) -> Any:
    """Change, drop or add one thing somewhere in a plain value."""
    if isinstance(value, dict) and value and random_.random() < 0.9:
        name = random_.choice(sorted(value))
        way = random_.random()
        if way < 0.15:
            return {key: part for key, part in value.items() if key != name}
        if way < 0.25:
            return value | {f"{name}_": random_.choice(STRANGE)}
        return value | {name: _spoil(value[name], random_)}
    if isinstance(value, list) and value and random_.random() < 0.7:
        at = random_.randrange(len(value))
        if random_.random() < 0.2:
            return value[:at] + value[at + 1 :]
        return [*value[:at], _spoil(value[at], random_), *value[at + 1 :]]
    return random_.choice(STRANGE)


def _split(path: Path) -> tuple[dict[str, Any], bytes]:
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def _spoil_header(path: Path, random_: random.Random) -> None:
    header, data = _split(path)
    name = random_.choice(sorted(set(header) - {"__metadata__"}))
    entry = header[name]
    way = random_.randrange(6)
    if way == 0:
        entry["shape"] = random_.choice(([1 << 40], [-1], [0], entry["shape"][::-1], [1 << 62] * 3))
    elif way == 1:
        entry["dtype"] = random_.choice(("F64", "BF16", "I8", "BOOL", "F8_E4M3", "X", "U16", "C64"))
    elif way == 2:
        entry["data_offsets"] = random_.choice(([0, 1 << 60], [5, 1], [-8, 8], [0, 0]))
    elif way == 3:
        header[random_.choice(("x", "head.x.weight", f"{name}.delta"))] = header.pop(name)
    elif way == 4 and entry["shape"]:
        entry["shape"] = [1, *entry["shape"]] if random_.random() < 0.5 else [_size(entry)]
    else:
        header = _spoil(header, random_)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def _size(entry: dict[str, Any]) -> int:
    size = 1
    for side in entry["shape"]:
        size *= side
    return size


def _spoil_length(path: Path, random_: random.Random) -> None:
    raw = path.read_bytes()
    claimed = random_.choice((0, 1, 1 << 20, 1 << 31, 1 << 60, (1 << 64) - 1))
    path.write_bytes(struct.pack("<Q", claimed) + raw[8:])


def _spoil_numbers(path: Path, random_: random.Random) -> None:
    """Make numbers NaN or infinite: all bits of an exponent are ones."""
    header, data = _split(path)
    text = json.dumps(header).encode()
    start = random_.randrange(max(len(data) - 8, 1))
    spoiled = data[:start] + b"\xff" * 8 + data[start + 8 :]
    path.write_bytes(struct.pack("<Q", len(text)) + text + spoiled)


def copy_fresh(source: Path, target: Path) -> Path:
    """Give an untouched copy of a folder."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target
