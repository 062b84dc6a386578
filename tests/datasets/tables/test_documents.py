from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path

import docx as python_docx
import pytest

from fabula.core.errors import InputError
from fabula.datasets.tables import archive, documents
from fabula.datasets.tables.documents import strip_html, strip_markdown
from fabula.datasets.tables.stories import StoryFile, load_stories
from fakes.factories import find_slowness
from fakes.office import docx, epub, odt, zip_parts

Write = Callable[[str, "str | bytes"], Path]


def text_of(path: Path) -> str:
    [story] = StoryFile(path)
    assert load_stories(str(path)) == [story]
    return story.text


def test_markdown_is_the_text_as_a_reader_sees_it() -> None:
    page = """---
title: The fox
---
# The *fox*

Once there was a **fox**,
it _left_ [home](http://x.y "z").[^1]
<!-- not this -->
A ~~bad~~ `good` night,\\
said 2 * 3 * 4 in snake_case_names.

***

> "Who?"
> she said.

- Me.
- You.

Second
------
The end &amp; all.  \nFinis\\*.

[^1]: a note
"""
    assert strip_markdown(page).split("\n\n") == [
        "The fox",
        "Once there was a fox, it left home.",
        "A good night,\nsaid 2 * 3 * 4 in snake_case_names.",
        '"Who?" she said.',
        "- Me.\n- You.",
        "Second",
        "The end & all.\nFinis*.",
    ]


def test_what_looks_like_front_matter_but_is_a_rule_is_not_cut_away() -> None:
    assert strip_markdown("---\n\nOnce.\n\n---\n\nTwice.") == "Once.\n\nTwice."
    assert strip_markdown("+++\na = 1\n+++\nOnce.") == "Once."


def test_a_page_is_its_blocks() -> None:
    page = """<!DOCTYPE html><html><head><title>no</title><style>p {}</style></head><body>
    <h1>One</h1><p>A <b>fox</b>,<br>it left &amp; <!-- <p>not this</p> --> cried.</p>
    <script>if (a < b) alert("<p>")</script><p>Two.</p></body></html>"""
    assert strip_html(page) == "One\n\nA fox,\nit left & cried.\n\nTwo."


@pytest.mark.parametrize("strip", [strip_html, strip_markdown])
@pytest.mark.parametrize(
    "sign", ["<", "<!--", "*a ", "_", "[", "![a](", "`", "~~a", "# ", "> ", "&"]
)
def test_a_text_of_nothing_but_marks_takes_little_time(
    strip: Callable[[str], str], sign: str
) -> None:
    began = time.monotonic()
    strip(sign * 20_000)
    assert time.monotonic() - began < 5 * find_slowness()


def test_paragraphs_of_a_word_document_are_those_of_python_docx(write: Write) -> None:
    document = python_docx.Document()
    document.add_heading("The fox", 1)
    document.add_paragraph("Once there was a ").add_run("fox").bold = True
    document.add_paragraph("A line\nand another\twith a tab.")
    document.add_paragraph("")
    document.add_paragraph("The end.")
    out = io.BytesIO()
    document.save(out)
    expected = [paragraph.text for paragraph in document.paragraphs if paragraph.text]
    assert text_of(write("a.docx", out.getvalue())).split("\n\n") == expected


def test_changes_that_are_tracked_in_word_are_taken_as_made(write: Write) -> None:
    body = (
        "<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>A </w:t></w:r>"
        "<w:ins><w:r><w:t>red </w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>blue </w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>gone </w:t></w:r></w:moveFrom>"
        '<w:r><w:t>fox.</w:t><w:br w:type="page"/></w:r></w:p>'
    )
    assert text_of(write("a.docx", docx(body))) == "A red fox."
    assert text_of(write("b.docx", docx(body, "word/document2.xml"))) == "A red fox."


def test_the_text_of_an_odt_file(write: Write) -> None:
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        "<text:h>The fox</text:h><text:p>Once<text:s text:c='2'/>there\n   was"
        "<text:note><text:p>a note</text:p></text:note> a <text:span>fox</text:span>.</text:p>"
        "<text:p/><text:p>A<text:tab/>B<text:line-break/>C<office:annotation><text:p>hm</text:p>"
        "</office:annotation></text:p>"
    )
    assert text_of(write("a.odt", odt(body))) == "The fox\n\nOnce  there was a fox.\n\nA\tB\nC"


def test_the_chapters_of_a_book_come_in_their_order(write: Write) -> None:
    chapters = {
        "z one.xhtml": "<html><body><h1>One</h1><p>A fox.</p></body></html>",
        "a.xhtml": "<?xml version='1.0'?><html><body><p>It left.</p></body></html>",
    }
    assert text_of(write("a.epub", epub(chapters))) == "One\n\nA fox.\n\nIt left."


def test_a_protected_book_is_refused(write: Write) -> None:
    lock = '<encryption><CipherReference URI="book/1.xhtml"/></encryption>'
    book = epub({"1.xhtml": "<p>x</p>"}, extra={"META-INF/encryption.xml": lock})
    with pytest.raises(InputError, match=r"a\.epub: a protected book"):
        list(StoryFile(write("a.epub", book)))


BOMB = (
    '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>'
    "<office:document-content xmlns:office='o'>&c;</office:document-content>"
)


@pytest.mark.parametrize("part", ["content.xml", "word/document.xml", "META-INF/container.xml"])
def test_entities_of_their_own_are_refused(write: Write, part: str) -> None:
    name = {"content.xml": "a.odt", "word/document.xml": "a.docx"}.get(part, "a.epub")
    raw = zip_parts({"_rels/.rels": "<a/>", part: BOMB})
    with pytest.raises(InputError, match=rf"{name} \({part}\): declares entities"):
        list(StoryFile(write(name, raw)))


def test_an_encoding_nobody_knows_is_broken_xml(write: Write) -> None:
    raw = zip_parts({"content.xml": '<?xml version="1.0" encoding="ETF-8"?><a/>'})
    with pytest.raises(InputError, match=r"a\.odt \(content\.xml\): broken XML \(unknown encoding"):
        list(StoryFile(write("a.odt", raw)))


def test_what_grows_too_large_is_refused_before_it_is_unzipped(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = odt(f"<text:p>{'a' * 3_000_000}</text:p>")
    monkeypatch.setattr(documents, "MOST_PART_BYTES", 2 * 1024**2)
    with pytest.raises(InputError, match=r"a\.odt \(content\.xml\): larger than 2 MiB unzipped"):
        list(StoryFile(write("a.odt", raw)))
    monkeypatch.setattr(archive, "MOST_UNZIPPED_BYTES", 1024**2)
    with pytest.raises(InputError, match=r"a\.odt: larger than 1 MiB unzipped"):
        list(StoryFile(write("a.odt", raw)))


@pytest.mark.parametrize("suffix", ["docx", "odt", "epub"])
@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "not an .* file, whatever its name says"),
        (b"\xd0\xcf\x11\xe0 an old document", "not an .* file, .* an old .doc"),
        (b"PK cut", "not a whole file of its kind"),
        (zip_parts({"other": "x"}), "not a whole file of its kind .*no item named"),
        (
            zip_parts(
                dict.fromkeys(("content.xml", "_rels/.rels", "META-INF/container.xml"), "<a>")
            ),
            "broken XML",
        ),
    ],
    ids=["empty", "old", "cut", "other", "broken"],
)
def test_what_is_no_document_is_named(write: Write, suffix: str, raw: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        list(StoryFile(write(f"a.{suffix}", raw)))
    assert f"a.{suffix}" in caught.value.problem and caught.value.remedy
