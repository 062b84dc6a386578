"""A folder of texts: one story a file, and a folder within it a system, or a story's pictures."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError
from fabula.core.images import list_images
from fabula.core.story import count_text
from fabula.datasets.tables.rows import IN_FOLDERS, Rows, detect_format, read_whole
from fabula.datasets.tables.text_file import Reading, TextFile, name_path

# A file that says what a folder is; to read it as a story would never be meant.
_NO_STORY = ("readme.md", "readme.markdown")


def read_folder(file: TextFile, reading: Reading) -> Rows:
    """One story a file; a folder within stands for a system, the file's name for the item.

    Where one text lies beside pictures, their folder is the story: its name stands for the item,
    the folder that it lies in for the system.
    """
    encodings: dict[str, int] = {}
    paths = list_story_files(file.path, reading)
    beside = Counter(path.parent for path in paths)
    for path in paths:
        where = name_path(path)
        text_file = TextFile(path, where, file.encoding)
        try:
            text = read_whole(text_file, detect_format(path), None)
        except InputError as error:
            reading.refuse(where, error)
            continue
        except OSError as error:
            reading.refuse(where, _refuse_path(where, error))
            continue
        codec = vars(text_file).get("codec", "utf-8")  # documents have none
        encodings[codec] = encodings.get(codec, 0) + 1
        images = [str(image) for image in list_images(path.parent)]
        if images and beside[path.parent] > 1:
            reading.note(f"pictures beside several texts belong to none of them ({path.parent})")
            images = []
        yield where, {"text": text} | _name_story(path.relative_to(file.path), images)
    if not file.encoding:
        for codec, count in encodings.items():
            if codec != "utf-8":
                reading.note(f"{count_text(count, 'file')} in {codec}")


def _name_story(path: Path, images: list[str]) -> dict[str, Any]:
    """Give the fields of a story by where its file lies; beside pictures, by its folder."""
    inner = path.with_suffix("")
    if images and len(inner.parts) > 1:
        inner = inner.parent
    row: dict[str, Any] = {"id": name_path(inner.as_posix()), "item": name_path(inner.name)}
    if len(inner.parts) > 1:
        row["system"] = name_path(inner.parent.as_posix())
    return row | ({"images": images} if images else {})


def list_story_files(folder: Path, reading: Reading) -> list[Path]:
    """Texts of a folder and those within it, sorted; none, or a folder not readable, is a mistake.

    What editors leave beside a file (`~$tale.docx`, hidden files) is none, nor is a README.md.
    """
    paths = sorted(_walk(folder, reading))
    if not paths:
        raise InputError(
            f"{folder}: a folder without texts ({' '.join(IN_FOLDERS)})",
            "add some, or give a file, such as a table in it",
        )
    return paths


def _walk(folder: Path, reading: Reading) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        where = name_path(error.filename)
        reading.refuse(where, _refuse_path(where, error))

    for place, _, names in os.walk(folder, onerror=refuse):
        for name in names:
            path = Path(place, name)
            if path.suffix.lower() not in IN_FOLDERS or name.startswith(("~$", ".")):
                continue
            if name.lower() in _NO_STORY:
                reading.note(f"{name} is not read as a story")
                continue
            try:
                if stat.S_ISREG(path.stat().st_mode):
                    yield path
            except OSError as error:
                reading.refuse(name_path(path), _refuse_path(name_path(path), error))


def _refuse_path(where: str, error: OSError) -> InputError:
    return InputError(f"{where}: cannot be read ({error.strerror or error})", "check its rights")
