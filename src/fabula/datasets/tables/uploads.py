"""One story out of a file that somebody has sent: bytes and a name, neither to be trusted.

Nothing is written to a disk. The name says how to read it, and the bytes whether that is so; what
is no story is refused with a sentence for who sent it.
"""

from __future__ import annotations

from pathlib import Path

from fabula.core.errors import InputError
from fabula.datasets.tables.documents import read_document
from fabula.datasets.tables.rows import TEXTS, detect_format, is_known
from fabula.datasets.tables.text_file import HeldFile, name_path, shorten

MOST_UNZIPPED_BYTES = 32 * 1024 * 1024
_KINDS = ".txt, .md, .docx, .odt, .html or .epub"
_ZIPPED = ("docx", "odt", "epub", "xlsx", "ods")
# How files begin that are often taken for documents, and what to do about each.
_OTHERS = {
    b"%PDF": ("a PDF, in which a text has no order", f"save the story as {_KINDS}"),
    b"{\\rtf": ("a rich text file (.rtf)", "save it as .docx or .odt"),
    b"\xd0\xcf\x11\xe0": ("an old Office file, or one with a password", "save it as .docx"),
    b"\x1f\x8b": ("a gzip file", "unpack it first"),
    b"PK": ("a zip archive", "give the document itself, under its own name"),
}


def read_upload(name: str, data: bytes, *, most_bytes: int = MOST_UNZIPPED_BYTES) -> str:
    """Give the story of a file, as a reader sees it; `most_bytes` is what it may unzip to."""
    path = Path(Path(name.replace("\\", "/")).name)
    label = shorten(name_path(path), 80)
    kind = _tell_kind(path, label, data)
    file = HeldFile(path, label, encoding="", data=data)
    try:
        text = file.text() if kind == "txt" else read_document(file, kind, most_bytes=most_bytes)
    except InputError as error:
        # Options of a command help nobody who has sent a file.
        remedy = "save it as UTF-8" if "--encoding" in error.remedy else error.remedy
        raise InputError(error.problem, remedy) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise InputError(f"{label}: no text but binary data", f"give {_KINDS}")
    if not text.strip():
        raise InputError(f"{label}: holds no text", "give a file with a story in it")
    return text.strip("\n")


def _tell_kind(path: Path, label: str, data: bytes) -> str:
    """Tell by the name how to read a file, unless its first bytes say otherwise."""
    kind = detect_format(path) if is_known(path) and path.suffix.lower() != ".gz" else ""
    for mark, (what, remedy) in _OTHERS.items():
        if data.startswith(mark) and not (mark == b"PK" and kind in _ZIPPED):
            raise InputError(f"{label}: {what}", remedy)
    if kind and kind not in TEXTS:
        raise InputError(
            f"{label}: a table, which may hold many stories",
            "give one story, or let `fabula review FILE` rank them all",
        )
    if not kind:
        raise InputError(f"{label}: not a kind of file that is read", f"give {_KINDS}")
    return kind
