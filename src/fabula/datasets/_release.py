"""Files of a release: found in a folder, plain or gzipped, read and checked against the card."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.datasets._lines import TextFile
from fabula.datasets._rows import Row, format_of, rows


def release_file(path: Path | None, name: str, *names: str) -> TextFile:
    """Give the first of some files that a folder holds, plain or gzipped, or the file itself."""
    found = find_release_file(path, name, *names)
    if found is None:
        wanted = " or ".join([name, *names])
        raise InputError(
            f"{path or 'no folder given'}: {wanted} (plain or .gz) is not there",
            "pass the folder or file with --path, or keep it with: fabula data add NAME FOLDER; "
            "fabula data show NAME says where to get it",
        )
    return found


def find_release_file(path: Path | None, *names: str) -> TextFile | None:
    """Give the first of some files that a folder holds, if it holds one."""
    if path is None:
        return None
    if path.is_file():
        plain = path.name.removesuffix(".gz")
        return TextFile(path, path.name) if plain in names else None
    for name in names:
        for candidate in (path / name, path / f"{name}.gz"):
            if candidate.is_file():
                return TextFile(candidate, candidate.name)
    return None


def file_rows(file: TextFile) -> Iterator[tuple[str, Row]]:
    """Go through the rows of a JSONL, JSON, CSV or TSV file with the words for where each is."""
    return rows(file, format_of(file.path))


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, without gzip."""
    digest = hashlib.sha256()
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def field(row: Row, name: str, where: str) -> Any:
    """Give a field of a row, or say which one is missing where."""
    if name not in row or row[name] is None:
        raise InputError(f"{where}: field {name!r} is missing", f"known: {', '.join(row)}")
    return row[name]


def rating(value: Any, where: str, scale: tuple[float, float] | None = None) -> float:
    """Read a rating, or say where it is no number or outside the scale."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: rating {value!r} is no number", "mend or delete it") from None
    if scale and not scale[0] <= found <= scale[1]:
        low, high = scale
        raise InputError(
            f"{where}: rating {found:g} is outside the scale {low:g} to {high:g}",
            "mend it, or leave it empty if it is missing",
        )
    return found


def counts_of(dataset: Dataset) -> dict[str, int]:
    """Count what a data set holds, by the names that cards use."""
    return {
        "stories": len(dataset.stories),
        "items": len({story.item for story in dataset.stories if story.item is not None}),
        "systems": len({story.system for story in dataset.stories if story.system is not None}),
        "ratings": len(dataset.ratings),
        "scores": len(dataset.scores),
        "pairs": len(dataset.preferences),
    }


def check_counts(dataset: Dataset, names: Sequence[str] | None = None) -> Dataset:
    """Refuse a release that does not hold what its card says (of some counts, or of all)."""
    found = counts_of(dataset)
    for name in names if names is not None else dataset.card.counts:
        wanted = dataset.card.counts[name]
        if found[name] != wanted:
            raise InputError(
                f"{dataset.name}: {found[name]:,} {name} where the release has {wanted:,}",
                "fetch it again, or pass --partial to use what is there",
            )
    return dataset
