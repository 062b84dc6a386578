from __future__ import annotations

import zipfile
from io import BytesIO

import pytest

from fabula.core.errors import InputError
from fabula.datasets.tables.uploads import read_upload
from fakes.office import docx, epub, odt, xlsx, zip_parts

WORDS = "The lamp went out.\n\nNobody said a word."
PARAGRAPHS = "<w:p><w:r><w:t>The lamp went out.</w:t></w:r></w:p>"
PARAGRAPHS += "<w:p><w:r><w:t>Nobody said a word.</w:t></w:r></w:p>"
HTML = "<p>The lamp went out.</p><p>Nobody said a word.</p>"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("tale.txt", WORDS.encode()),
        ("C:\\tales\\tale.TXT", WORDS.replace("\n", "\r\n").encode("utf-16")),
        (f"{'long' * 50}.txt", WORDS.encode()),
        ("tale.md", b"The lamp *went* out.\n\nNobody said\na word."),
        ("tale.html", HTML.encode()),
        ("tale.docx", docx(PARAGRAPHS)),
        ("tale.odt", odt(HTML.replace("<p>", "<text:p>").replace("</p>", "</text:p>"))),
        ("tale.epub", epub({"one.xhtml": HTML})),
    ],
)  # fmt: skip
def test_a_story_is_read_out_of_bytes_and_a_name(name, data):
    assert read_upload(name, data) == WORDS


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.pdf", b"%PDF-1.7", "a PDF"),
        ("a.docx", b"%PDF-1.7", "a PDF"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1", "an old Office file"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1", "an old Office file"),
        ("a.rtf", b"{\\rtf1 x}", "rich text"),
        ("a.txt.gz", b"\x1f\x8b\x08", "unpack it first"),
        ("a.txt", zip_parts({"x": "y"}), "a zip archive"),
        ("a.docx", b"The lamp.", "not an .docx file"),
        ("a.docx", zip_parts({"x": "y"}), "not a whole file of its kind"),
        ("a.docx", zip_parts({"x": "y"})[:-9], "not a whole file of its kind"),
        ("a.xlsx", xlsx({"One": [["text"], ["A tale."]]}), "a table, which may hold many"),
        ("a.jsonl", b'{"text": "A tale."}', "a table, which may hold many"),
        ("a.csv", b"text\nA tale.\n", "a table, which may hold many"),
        ("a.png", b"\x89PNG", "not a kind of file"),
        ("a", b"A tale.", "not a kind of file"),
        ("a.txt", b"one\0two", "binary data"),
        ("a.txt", b" \n ", "holds no text"),
        ("a.txt", "Волк и лиса".encode("cp1251"), "save it as UTF-8"),
    ],
)  # fmt: skip
def test_what_is_no_story_is_refused_with_a_sentence(name, data, words):
    with pytest.raises(InputError) as caught:
        read_upload(name, data)
    assert words in str(caught.value) and "--" not in str(caught.value)
    assert str(caught.value).startswith(name)


def test_a_bomb_is_not_unzipped():
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 40_000_000)
    assert len(packed.getvalue()) < 100_000
    with pytest.raises(InputError, match="larger than 32 MiB unzipped"):
        read_upload("bomb.docx", packed.getvalue())


def test_a_part_that_says_less_than_it_holds_is_not_unzipped_beyond_what_it_says():
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 40_000_000)
    raw = packed.getvalue().replace((40_000_000).to_bytes(4, "little"), b"\x10\0\0\0")
    with pytest.raises(InputError, match=r"not a whole file|broken XML"):
        read_upload("bomb.docx", raw)


def test_a_book_whose_chapters_are_all_one_file_is_read_once():
    items = "".join(f'<item id="c{n}" href="one.xhtml"/>' for n in range(500))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(500))
    package = f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>"
    container = '<container><rootfile full-path="book.opf"/></container>'
    parts = {"META-INF/container.xml": container, "book.opf": package, "one.xhtml": HTML}
    assert read_upload("book.epub", zip_parts(parts)) == WORDS
