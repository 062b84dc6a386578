"""What converted files say, whoever wrote them: digests that versions of packages do not change.

A conversion writes weights and a tokeniser with packages of its day, which lay the same numbers out
in other bytes. An asset therefore pins what they hold: the name, type, shape and values of every
tensor, and the tokeniser's own values. Its small files are pinned as they stand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from fabula.core.files import write_text
from fabula.models.store.asset import Asset, AssetError, file_hashes, file_sha256

# safetensors itself reads no longer header.
LONGEST_HEADER = 100_000_000
_CHUNK = 1 << 20


def is_converted(folder: Path, wanted: Asset, *, fresh: bool = True) -> bool:
    """Whether a folder holds exactly what the conversion of the asset gives; reads it all."""
    return content_hashes(folder, fresh=fresh) == pinned_content(wanted)


def pinned_content(wanted: Asset) -> dict[str, str]:
    """Digest of the content of every file that the conversion must give."""
    texts = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in wanted.texts.items()}
    return {**wanted.converted, **texts}


def content_hashes(folder: Path, *, fresh: bool = True) -> dict[str, str]:
    """Digest of the content of every file of a folder, manifests left out."""
    return file_hashes(folder, fresh=fresh, digest=_digest_content)


def settle_texts(folder: Path, wanted: Asset) -> None:
    """Write the small files as they are pinned: every version of a package writes them otherwise.

    What else a version may have left there is removed.
    """
    for name in file_hashes(folder):
        if name not in wanted.converted:
            (folder / name).unlink()
    for name, text in wanted.texts.items():
        write_text(folder / name, text)


def check_converted(folder: Path, wanted: Asset, made_with: Mapping[str, str]) -> None:
    """Refuse what a conversion gave, if that is not what it must give."""
    found, pinned = content_hashes(folder), pinned_content(wanted)
    if other := sorted(name for name in {*found, *pinned} if found.get(name) != pinned.get(name)):
        packages = ", ".join(f"{name} {version}" for name, version in made_with.items())
        raise AssetError(
            f"what is made of {wanted.name!r} here ({packages or 'by hand'}) is not what is"
            f" pinned: {', '.join(other)}"
        )


def _digest_content(path: Path) -> str:
    """Digest of what a file holds; of one that cannot be read so, that of its bytes."""
    try:
        if path.suffix == ".safetensors":
            return _digest_tensors(path)
        if path.name == "tokenizer.json":
            return _digest_tokenizer(path)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    return file_sha256(path)


def _digest_tensors(path: Path) -> str:
    """SHA-256 over name, type, shape and bytes of every tensor, by name."""
    whole = hashlib.sha256()
    with path.open("rb") as file:
        header, start = _read_header(file, path.stat().st_size)
        for name, entry in sorted(header.items()):
            if name == "__metadata__":
                continue
            first, last = entry["data_offsets"]
            own = hashlib.sha256()
            file.seek(start + first)
            left = last - first
            while left > 0:
                chunk = file.read(min(left, _CHUNK))
                if not chunk:
                    raise ValueError("the file ends within a tensor")
                own.update(chunk)
                left -= len(chunk)
            shape = "×".join(map(str, entry["shape"]))
            whole.update(f"{name}\0{entry['dtype']}\0{shape}\0{own.hexdigest()}\n".encode())
    return whole.hexdigest()


def _read_header(file: IO[bytes], size: int) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(file.read(8), "little")
    if length > min(LONGEST_HEADER, size - 8):
        raise ValueError("the header is longer than the file")
    header = json.loads(file.read(length), object_pairs_hook=_refuse_doubles)
    return header, 8 + length


def _refuse_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Take no name twice: one reader would take the first, another the last."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)


def _digest_tokenizer(path: Path) -> str:
    """SHA-256 of a tokeniser's values, those that say no left out: versions add such ones."""
    values = json.loads(path.read_bytes(), object_pairs_hook=_refuse_doubles)
    merges = values["model"].get("merges") or []
    # Older versions write a merge as one string.
    joined = [pair if isinstance(pair, str) else " ".join(pair) for pair in merges]
    values["model"]["merges"] = joined
    plain = json.dumps(_drop_empty(values), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def _drop_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _drop_empty(part) for name, part in value.items()}
        # Zero is no empty value, and equals False.
        return {
            name: part
            for name, part in kept.items()
            if part is not None and part is not False and part not in ("", [], {})
        }
    return [_drop_empty(part) for part in value] if isinstance(value, list) else value
