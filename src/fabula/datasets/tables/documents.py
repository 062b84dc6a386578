"""The text of a document, as a reader sees it: paragraphs with a blank line between them.

Markdown, HTML, Word (.docx), OpenDocument (.odt) and EPUB. Headings are kept, as paragraphs of
their own; notes, comments, deleted text and the marks of emphasis are not.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote

from fabula.core.errors import InputError
from fabula.datasets.tables.archive import Archive, open_archive
from fabula.datasets.tables.text_file import TextFile, decode_text, detect_encoding

MOST_PART_BYTES = 128 * 1024 * 1024


def read_document(file: TextFile, kind: str, *, most_bytes: int | None = None) -> str:
    """Give the text of a document of that kind; one that unzips to more bytes is refused."""
    if kind == "md":
        return strip_markdown(file.text())
    if kind == "html":
        return strip_html(file.text())
    raw = file.raw()
    if not raw.startswith(b"PK"):
        remedy = "save it again; an old .doc, or one with a password, is not read"
        raise InputError(f"{file.label}: not an .{kind} file, whatever its name says", remedy)
    with open_archive(raw, file.label, most_bytes) as archive:
        read = {"docx": _read_docx, "odt": _read_odt, "epub": _read_epub}[kind]
        return read(archive)


def _join(paragraphs: Iterator[str] | list[str]) -> str:
    return "\n\n".join(words for part in paragraphs if (words := part.strip()))


class _Paragraphs:
    """Gathers the paragraphs of a document in XML; one within another comes after it."""

    def __init__(self, paragraph: set[str], skipped: set[str], signs: dict[str, str]) -> None:
        self.texts: list[str] = []
        self._paragraph, self._skipped, self._signs = paragraph, skipped, signs
        self._open: list[list[str]] = []
        self._deep = 0

    def begin(self, name: str, given: dict[str, str]) -> None:
        """A paragraph begins, or something that is left out, or a sign of its own stands here."""
        if self._deep or name in self._skipped:
            self._deep += 1
        elif name in self._paragraph:
            self._open.append([])
        elif name in self._signs and given.get("type") not in ("page", "column"):
            count = min(int(given["c"]), 1000) if given.get("c", "").isdecimal() else 1
            self.add(self._signs[name] * count)

    def end(self, name: str) -> None:
        """A paragraph ends, or something that is left out."""
        if self._deep:
            self._deep -= 1
        elif name in self._paragraph and self._open:
            self.texts.append("".join(self._open.pop()))

    def add(self, words: str) -> None:
        """Take words into the paragraph that is open, if one is."""
        if self._open and not self._deep:
            self._open[-1].append(words)


def _read_docx(archive: Archive) -> str:
    part = "word/document.xml"
    for name, given in archive.elements("_rels/.rels"):
        if name == "Relationship" and given.get("Type", "").endswith("/officeDocument"):
            part = given.get("Target", part).lstrip("/")
    # What was deleted or moved away is no longer there; a fallback says the same again. The stops
    # of a tabulator (in pPr) are called like the sign.
    skipped = {"del", "moveFrom", "Fallback", "pPr", "instrText", "delText"}
    signs = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
    found = _Paragraphs({"p"}, skipped, signs)
    inside = False

    def begin(name: str, given: dict[str, str]) -> None:
        nonlocal inside
        inside = inside or name == "t"
        found.begin(name, given)

    def end(name: str) -> None:
        nonlocal inside
        inside = inside and name != "t"
        found.end(name)

    def text(words: str) -> None:
        if inside:
            found.add(words)

    archive.check_part(part, MOST_PART_BYTES)
    archive.parse(part, begin, end, text)
    return _join(found.texts)


def _read_odt(archive: Archive) -> str:
    skipped = {"tracked-changes", "annotation", "note", "sequence-decls", "forms", "scripts"}
    found = _Paragraphs({"p", "h"}, skipped, {"s": " ", "tab": "\t", "line-break": "\n"})
    archive.check_part("content.xml", MOST_PART_BYTES)
    # Blanks and line ends of the file itself count as one blank, those of the text are elements.
    archive.parse(
        "content.xml", found.begin, found.end, lambda words: found.add(re.sub(r"\s+", " ", words))
    )
    return _join(found.texts)


def _read_epub(archive: Archive) -> str:
    """Chapters in the order of the book's spine, without those that are not part of its flow."""
    roots = [
        given.get("full-path", "")
        for name, given in archive.elements("META-INF/container.xml")
        if name == "rootfile"
    ]
    package = roots[0] if roots else ""
    files: dict[str, str] = {}
    chapters = []
    for name, given in archive.elements(package):
        if name == "item" and "nav" not in given.get("properties", "").split():
            href = posixpath.join(posixpath.dirname(package), unquote(given.get("href", "")))
            files[given.get("id", "")] = posixpath.normpath(href)
        elif name == "itemref" and given.get("linear") != "no":
            chapters.append(given.get("idref", ""))
    if "META-INF/encryption.xml" in archive.namelist():
        locked = {
            unquote(given.get("URI", ""))
            for name, given in archive.elements("META-INF/encryption.xml")
            if name == "CipherReference"
        }
        if locked & {*files.values()}:
            raise InputError(f"{archive.label}: a protected book", "give one without protection")
    # Many names of one file are one chapter: a book may not unzip to more than its parts.
    parts = dict.fromkeys(files[chapter] for chapter in chapters if chapter in files)
    return _join([strip_html(_decode_part(archive, part)) for part in parts])


def _decode_part(archive: Archive, part: str) -> str:
    archive.check_part(part, MOST_PART_BYTES)
    label = f"{archive.label} ({part})"
    with archive.open(part) as file:
        encoding = detect_encoding(file, label)
    return decode_text(archive.read(part), encoding, label)


_BLOCKS = set(
    "address article aside blockquote body dd div dl dt fieldset figcaption figure footer form h1 "
    "h2 h3 h4 h5 h6 header hr html li main nav ol p pre section table td th tr ul".split()
)
_UNSEEN = {"head", "script", "style", "template", "title", "noscript", "svg", "math", "textarea"}
_TAG = re.compile(r"<[!?/]?([a-zA-Z][\w:-]*)?[^<>]*>")


def strip_html(text: str) -> str:
    """Give the text of a page: its blocks as paragraphs, without what a browser does not show."""
    blocks: list[list[str]] = [[]]
    unseen = ""
    place = 0
    page = _drop_comments(text)
    for tag in _TAG.finditer(page):
        if not unseen:
            blocks[-1].append(page[place : tag.start()])
        place = tag.end()
        name = (tag[1] or "").lower()
        closes, empty = tag[0].startswith("</"), tag[0].endswith("/>")
        if unseen:
            unseen = "" if closes and name == unseen else unseen
        elif name in _UNSEEN and not closes and not empty:
            unseen = name
        elif name == "br":
            blocks[-1].append("\0")
        elif name in _BLOCKS:
            blocks.append([])
    if not unseen:
        blocks[-1].append(page[place:])
    return _join([_fold(html.unescape("".join(block))) for block in blocks])


def _drop_comments(text: str) -> str:
    first, *others = text.split("<!--")
    kept = [first]
    for part in others:
        _, closed, after = part.partition("-->")
        kept.append(after if closed else "")
    return "".join(kept)


def _fold(text: str) -> str:
    """Make one blank of several, as a browser does; a null marks a line break that is meant."""
    lines = (re.sub(r"[ \t\r\n\f]+", " ", line).strip() for line in text.split("\0"))
    return "\n".join(lines)


_RULE = re.compile(r"\s{0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-+)[ \t]*")
_DEFINITION = re.compile(r"\s{0,3}\[[^\]]{1,200}\]:\s*\S.*")
_LIST = re.compile(r"\s*(?:[-*+–—]|\d{1,9}[.)])[ \t]+\S")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
# The bounds keep a text that is nothing but marks from taking minutes.
_INLINE = (
    (re.compile(r"!\[([^\[\]]{0,500})\](?:\([^()]{0,2000}\)|\[[^\[\]]{0,200}\])"), ""),
    (re.compile(r"\[\^[^\[\]]{1,100}\]"), ""),
    (re.compile(r"\[([^\[\]]{1,1000})\](?:\([^()]{0,2000}\)|\[[^\[\]]{0,200}\])"), r"\1"),
    (re.compile(r"<((?:https?://|mailto:)[^<>\s]{1,2000})>"), r"\1"),
    (re.compile(r"<br ?/?>", re.IGNORECASE), "\n"),
    (re.compile(r"</?[a-zA-Z][^<>]{0,500}>"), ""),
    (re.compile(r"(?<!\\)(`+)([^`]{1,1000})\1"), r"\2"),
    (re.compile(r"(?<![\\*])(\*{1,3})(?=[^\s*])([^*]{1,1000}?)(?<=[^\s\\])\1(?!\*)"), r"\2"),
    (re.compile(r"(?<![\\\w])(_{1,3})(?=[^\s_])([^_]{1,1000}?)(?<=[^\s\\])\1(?!\w)"), r"\2"),
    (re.compile(r"(?<!\\)~~(?=\S)([^~]{1,1000}?)~~ ?"), ""),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)


def strip_markdown(text: str) -> str:
    """Give the text of a Markdown file: lines of a paragraph joined, marks taken away.

    What stands before the text (front matter) and rules between scenes are dropped; marks of
    lists are kept, for a dash may begin a line of dialogue.
    """
    blocks: list[str] = [""]
    fence = ""
    for line in _drop_comments(_drop_front_matter(text)).splitlines():
        opened = _FENCE.match(line)
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
            blocks.append("")
        elif fence:
            blocks[-1] += f"{line}\n"
        else:
            _add_line(blocks, re.sub(r"^(?:\s{0,3}>[ \t]?)+", "", line))
    for pattern, kept in _INLINE * 2:  # twice, for marks within marks
        blocks = [pattern.sub(kept, block) for block in blocks]
    return html.unescape(_join(blocks))


def _add_line(blocks: list[str], line: str) -> None:
    """Add a line to the paragraph that is open, or begin another."""
    heading = _HEADING.fullmatch(line)
    if blocks[-1].strip() and _UNDERLINE.fullmatch(line):
        blocks.append("")  # the line above was a heading
    elif not line.strip() or _RULE.fullmatch(line) or _DEFINITION.fullmatch(line):
        blocks.append("")
    elif heading:
        blocks += [heading[1] or "", ""]
    else:
        begins = "\n" if blocks[-1] and _LIST.match(line) else ""
        # Two blanks or a backslash at the end of a line are a line break that is meant.
        ends = "\n" if line.endswith(("  ", "\\")) else " "
        blocks[-1] = blocks[-1].rstrip(" ") + (begins or " " * (blocks[-1][-1:] not in ("", "\n")))
        blocks[-1] += line.strip().removesuffix("\\") + ends


def _drop_front_matter(text: str) -> str:
    lines = text.split("\n")
    mark = lines[0].strip()
    if mark not in ("---", "+++"):
        return text
    for place, line in enumerate(lines[1:500], 1):
        if line.rstrip() in (mark, "..." if mark == "---" else mark):
            return "\n".join(lines[place + 1 :])
        if place == 1 and not line.strip():
            return text  # a rule, and then the text
    return text
