"""Files of office programs, made by hand: what they write, without what does not matter here."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import openpyxl

OFFICE = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
)
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"


def zip_parts(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def xlsx(sheets: Mapping[str, Sequence[Sequence[Any]]], *, hidden: Sequence[str] = ()) -> bytes:
    """Make a workbook by openpyxl."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        sheet.sheet_state = "hidden" if name in hidden else "visible"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def ods(tables: Mapping[str, str]) -> bytes:
    """Make a workbook of rows in XML, by the names of its sheets."""
    body = "".join(
        f'<table:table table:name="{name}">{rows}</table:table>' for name, rows in tables.items()
    )
    return _opendocument("spreadsheet", f"<office:spreadsheet>{body}</office:spreadsheet>")


def ods_row(*cells: str | float) -> str:
    return f"<table:table-row>{''.join(map(ods_cell, cells))}</table:table-row>"


def ods_cell(value: str | float) -> str:
    if isinstance(value, str):
        kind = 'office:value-type="string"'
    else:
        kind = f'office:value-type="float" office:value="{value}"'
    return f"<table:table-cell {kind}><text:p>{value}</text:p></table:table-cell>"


def odt(body: str) -> bytes:
    return _opendocument("text", f"<office:text>{body}</office:text>")


def _opendocument(kind: str, body: str) -> bytes:
    return zip_parts(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": '<?xml version="1.0" encoding="UTF-8"?>'
            f"<office:document-content {OFFICE}><office:body>{body}</office:body>"
            "</office:document-content>",
            "META-INF/manifest.xml": '<?xml version="1.0"?><manifest:manifest xmlns:manifest='
            '"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        }
    )


def docx(body: str, part: str = "word/document.xml") -> bytes:
    """Make a document of paragraphs in XML."""
    return zip_parts(
        {
            "_rels/.rels": f'<Relationships xmlns="{RELATIONS}">'
            f'<Relationship Id="r1" Type="{MAIN}" Target="{part}"/></Relationships>',
            part: f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        }
    )


def epub(chapters: Mapping[str, str], *, extra: Mapping[str, str] | None = None) -> bytes:
    """Make a book of chapters in XHTML, in their order."""
    items = "".join(
        f'<item id="i{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{number}"/>' for number in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        f'<item id="nav" href="nav.xhtml" properties="nav"/>{items}</manifest>'
        f'<spine><itemref idref="nav"/>{spine}</spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="book/package.opf"/></rootfiles></container>'
    )
    return zip_parts(
        {
            "META-INF/container.xml": container,
            "book/package.opf": package,
            "book/nav.xhtml": "<html><body><p>Contents</p></body></html>",
            **{f"book/{name}": text for name, text in chapters.items()},
            **(extra or {}),
        }
    )
