"""Files of every form, spoiled at random: a reading gives stories or says what is the matter."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import time
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fabula.core.errors import UserError
from fabula.datasets.table import read_table
from fabula.datasets.tables.stories import StoryFile
from fabula.datasets.tables.text_file import FileForm
from fakes.fuzzing import rounds, seeded
from fakes.office import docx, epub, ods, ods_row, odt, xlsx

ROWS = [
    {"id": f"s{number}", "text": text, "system": "ab"[number % 2], "rating": number / 2}
    for number, text in enumerate(
        ["Once, there was a fox.", 'He said "no";\nand left.', "Über den Wolken\t…", "", "🦊" * 9]
    )
]
NAMES = list(ROWS[0])
PARAGRAPHS = [str(row["text"]) for row in ROWS]
MOST_S = 20.0


def table(delimiter: str) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, NAMES, delimiter=delimiter)
    writer.writeheader()
    writer.writerows(ROWS)
    return out.getvalue().encode()


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), out)
    return out.getvalue()


JSONL = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
FILES: dict[str, bytes] = {
    "a.jsonl": JSONL,
    "a.json": json.dumps(ROWS, indent=1).encode(),
    "comma.csv": table(","),
    "semicolon.csv": b"sep=;\r\n" + table(";"),
    "western.csv": table(";").decode().encode("cp1252", "replace"),
    "wide.csv": table("\t").decode().encode("utf-16"),
    "a.tsv": table("\t"),
    "a.xlsx": xlsx({"Notes": [], "Tales": [NAMES, *([row[n] for n in NAMES] for row in ROWS)]}),
    "a.ods": ods({"Tales": "".join([ods_row(*NAMES), *(ods_row(*r.values()) for r in ROWS[:1])])}),
    "a.parquet": parquet(),
    "a.jsonl.gz": gzip.compress(JSONL, mtime=0),
    "a.txt": "\n\n".join(PARAGRAPHS).encode(),
    "a.md": b"---\ntitle: x\n---\n# One\n\nShe *left* [him](http://x.y) `so`.\n\n> - no\n\n***\n",
    "a.docx": docx("".join(f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>" for words in PARAGRAPHS)),
    "a.odt": odt("".join(f"<text:p>{words}<text:s text:c='3'/></text:p>" for words in PARAGRAPHS)),
    "a.epub": epub({"1.xhtml": "<html><body><h1>One</h1><p>A fox.<br/>No.</p></body></html>"}),
    "a.html": b"<html><head><title>x</title></head><body><!-- n --><p>A fox.</p></body></html>",
}
TOKENS = [
    *(b",", b";", b"\t", b"|", b'"', b'""', b"'", b"\n", b"\r", b"\r\n", b"\0", b"\x1a", b"\xff"),
    *(
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\xe9",
        b"\x81",
        b"NaN",
        b"Infinity",
        b"null",
    ),
    *(
        b"-1e999",
        b"1" * 400,
        b"[" * 3000,
        b"{",
        b"}",
        b'{"id":1,"id":2}',
        b"sep=;",
        b"=1/0",
        b"0,93",
    ),
    *(b"#DIV/0!", b"<", b"/>", b"<!--", b"-->", b"&lt;", b"&x;", b"<!DOCTYPE a [<!ENTITY b 'c'>]>"),
    *(b"XFD1048576", b'r="9999999"', b"99999999", b'repeated="1048576"', b"***", b"```", b"---\n"),
]


def spoil(raw: bytes, draw: random.Random) -> bytes:
    """Change bytes here and there: flip, cut, double, move, or put something odd in."""
    data = bytearray(raw)
    for _ in range(draw.choice([1, 1, 2, 5, 20])):
        place = draw.randrange(len(data) + 1)
        other = min(len(data), place + draw.choice([1, 2, 10, 200]))
        act = draw.randrange(5)
        if act == 0 and place < len(data):
            data[place] ^= 1 << draw.randrange(8)
        elif act == 1:
            del data[place:other]
        elif act == 2:
            data[place:place] = data[place:other] * draw.choice([1, 3, 50])
        elif act == 3:
            data[place:place] = draw.choice(TOKENS)
        elif draw.random() < 0.1:
            del data[place:]
    return bytes(data)


def spoil_part(raw: bytes, draw: random.Random) -> bytes:
    """Spoil a file within an archive, so that the archive itself stays whole."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        bad = draw.choice(names)
        for name in names:
            content = old.read(name)
            if name != bad or draw.random() > 0.05:
                new.writestr(name, spoil(content, draw) if name == bad else content)
    return out.getvalue()


def read_stories(path: Path, *, skip_bad: bool) -> None:
    assert list(StoryFile(path, skip_bad=skip_bad))


def read_ratings(path: Path, *, skip_bad: bool) -> None:
    assert len(read_table(path, gold=["rating"], form=FileForm(skip_bad=skip_bad)).ratings)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_spoiled_file_gives_stories_or_says_what_is_the_matter(tmp_path: Path) -> None:
    draw = seeded("files")
    read = refused = 0
    for number in range(rounds(300)):
        name = draw.choice(list(FILES))
        raw = FILES[name]
        inner = raw.startswith(b"PK") and draw.random() < 0.7
        spoiled = spoil_part(raw, draw) if inner else spoil(raw, draw)
        path = tmp_path / name
        path.write_bytes(spoiled)
        began = time.monotonic()
        for act in (read_stories, read_ratings):
            try:
                act(path, skip_bad=number % 2 == 1)
                read += 1
            except UserError as error:
                assert error.remedy and name in str(error), error
                refused += 1
            except BaseException:
                kept = tmp_path / f"kept-{name}"
                kept.write_bytes(spoiled)
                print(f"round {number}: {kept}")
                raise
        assert time.monotonic() - began < MOST_S, f"round {number}: {name}"
    assert read > 30 and refused > 30, "some of both, or nothing is tried"


def test_what_is_spoiled_was_whole(tmp_path: Path) -> None:
    for name, raw in FILES.items():
        path = tmp_path / name
        path.write_bytes(raw)
        texts = [story.text for story in StoryFile(path)]
        assert any(word in " ".join(texts) for word in ("fox", "left")), name
