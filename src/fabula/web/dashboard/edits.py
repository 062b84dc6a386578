"""Edits as they are shown: on the page a few, and in one file all of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from markupsafe import Markup

from fabula.reports.numbers import number_text
from fabula.reports.pages import escape, read_static, tag
from fabula.studio.diffs import DiffBlock, SuggestionEdit
from fabula.text.escapes import csv_text
from fabula.web.dashboard.parts import decimals_of, scale_of
from fabula.web.rendering import read_file

# How each kind of a block is marked up; what it means is said by the element, not by its colour.
_ELEMENTS = {"kept": "mark", "neutral": "span", "added": "ins", "deleted": "del"}
# The file with all edits brings its style along, and nothing is run in it.
FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
LEGEND = (
    ("kept", "kept", "words of the suggestion that were published"),
    ("neutral", "kept, stop words alone", "published too, but too common to count"),
    ("deleted", "removed", "suggested, and not published"),
    ("added", "added", "published, and not suggested"),
)


def show_blocks(blocks: Iterable[DiffBlock]) -> Markup:
    """Write the blocks of a diff, each in an element that says what became of it."""
    return Markup("".join(mark_block(block.kind, block.text) for block in blocks))


def mark_block(kind: str, text: str) -> str:
    """Write one block."""
    return tag(_ELEMENTS[kind], escape(text), class_=f"diff-{kind}")


def list_values(qualities: Mapping[str, float]) -> list[tuple[str, str]]:
    """Qualities of an edit as they are shown."""
    return [
        (label, number_text(scale_of(label) * value, decimals_of(label)))
        for label, value in qualities.items()
    ]


def spell_moment(moment: datetime) -> str:
    """Spell when something was published."""
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def write_edits_page(edits: Iterable[SuggestionEdit], about: str) -> Iterator[str]:
    """Write one file with all edits, an edit at a time; it needs nothing else and runs nothing."""
    style = f"{read_static('page.css')}{read_file('diffs.css').decode()}{_PAGE_STYLE}"
    key = "".join(
        tag("li", f"{mark_block(kind, name)} {escape(words)}") for kind, name, words in LEGEND
    )
    head = "".join(
        [
            tag("title", "Edits · Fabula Studio"),
            f'<meta http-equiv="Content-Security-Policy" content="{escape(FILE_POLICY)}">',
            tag("style", style),
        ]
    )
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'{head}</head><body><header class="page"><h1>Edits</h1>{tag("p", escape(about))}'
        f"</header><main>{tag('ul', key, class_='diff-key')}\n"
    )
    count = 0
    for count, edit in enumerate(edits, 1):  # noqa: B007
        yield _write_edit(edit) + "\n"
    end = f"{count:,} edits." if count else "There are no edits here."
    yield f"{tag('p', end, class_='quiet')}</main></body></html>\n"


def _write_edit(edit: SuggestionEdit) -> str:
    name = escape(edit.machine)
    moment = tag("time", spell_moment(edit.published_at), datetime=edit.published_at.isoformat())
    title = f" · {tag('bdi', escape(edit.title))}" if edit.title else ""
    values = "".join(
        tag("div", tag("dt", escape(label)) + tag("dd", value))
        for label, value in list_values(edit.qualities)
    )
    comments = "".join(
        tag("blockquote", escape(words), class_="comment") for words in edit.comments
    )
    return tag(
        "article",
        tag("p", f"{tag('strong', name)} · {moment}{title}", class_="quiet")
        + tag("div", str(show_blocks(edit.blocks)), class_="diff")
        + (tag("dl", values, class_="edit-values") if values else "")
        + comments,
        class_="edit",
        id=f"edit-{edit.suggestion}",
    )


_PAGE_STYLE = "body { max-width: 52rem; } main { padding-top: 1rem; }"


def write_edits_csv(
    edits: Iterable[SuggestionEdit], labels: Sequence[str], *, size: int = 50
) -> Iterator[str]:
    """Write all edits as CSV, some at a time."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        ["suggestion", "model", "published_at", "game", *labels, "comments", "generated",
         "published"]
    )  # fmt: skip
    for count, edit in enumerate(edits, 1):
        values = [edit.qualities.get(label, "") for label in labels]
        words = ["\n".join(edit.comments), edit.generated, edit.published]
        writer.writerow(
            [edit.suggestion, csv_text(edit.machine), edit.published_at.isoformat(), edit.game,
             *values, *map(csv_text, words)]
        )  # fmt: skip
        if count % size == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()
