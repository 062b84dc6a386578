"""A page and the files beside it, put in place only when whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fabula.core.files import unwritable
from fabula.scoring.folder import RunFolder


def write_page(path: Path, page: str, beside: Callable[[Path], None]) -> Path:
    """Write a page; `beside` writes folders of files into the folder it is given."""
    with RunFolder(path.parent).partial() as partial:
        try:
            (partial / path.name).write_text(page, encoding="utf-8")
            beside(partial)
            _put_in_place(partial, path)
        except OSError as error:
            raise unwritable(path, error) from error
    return path


def _put_in_place(partial: Path, path: Path) -> None:
    """Rename what is whole, the page last, so that nobody ever opens half a page."""
    for folder in filter(Path.is_dir, partial.iterdir()):
        (path.parent / folder.name).mkdir(exist_ok=True)
        for file in folder.iterdir():
            file.replace(path.parent / folder.name / file.name)
    (partial / path.name).replace(path)
