from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.text.sentences import split_sentences
from fabula.text.words import words
from fakes.review import TEXT

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
FAKE = ("--weights", "fake", "--order", "fake", "--no-cache", "-q")


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def write_document(path: Path, paragraphs: list[str]) -> Path:
    """Write paragraphs as Markdown, Word or OpenDocument: the least that is one."""
    if path.suffix == ".md":
        path.write_text("\n\n".join(paragraphs), encoding="utf-8")
        return path
    with zipfile.ZipFile(path, "w") as archive:
        if path.suffix == ".odt":
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
            body = "".join(f"<text:p>{text}</text:p>" for text in paragraphs)
            archive.writestr(
                "content.xml",
                f'<office:document-content xmlns:office="{OFFICE}:office:1.0" '
                f'xmlns:text="{OFFICE}:text:1.0"><office:body><office:text>{body}'
                "</office:text></office:body></office:document-content>",
            )
            return path
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        )
        officedoc = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="a" '
            f'Type="{officedoc}/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>',
        )
    return path


@pytest.fixture
def tale(tmp_path: Path) -> Path:
    path = tmp_path / "keeper.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def tales(tmp_path: Path) -> Path:
    folder = tmp_path / "tales"
    folder.mkdir()
    for name, text in {"long": TEXT, "half": TEXT[:600], "none": " "}.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def test_a_file_is_reviewed_in_the_terminal(fabula: Run, tale: Path) -> None:
    done = fabula("review", tale, *FAKE)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert text.startswith("keeper\n") and "of 100 human stories" in text
    assert text.index("Statistics") < text.index("Comments")


def test_json_has_the_names_that_others_rely_on(fabula: Run, tale: Path) -> None:
    done = fabula("review", tale, "-f", "json", "--prompt", "A keeper.", *FAKE)
    found = json.loads(done.stdout)
    names = "preference percentile criteria aspects transitions repetition statistics warnings"
    assert set(names.split()) <= set(found)
    assert len(found["aspects"]) == 10 and len(found["criteria"]) == 5
    told = [one for one in found["aspects"] if one["comment"]]
    assert 3 <= len(told) <= 5
    for one in told:
        assert one["evidence"]["quote"] in TEXT and one["evidence"]["quote"] in one["comment"]


def test_values_are_those_of_fabula_score(fabula: Run, tale: Path) -> None:
    review = json.loads(fabula("review", tale, "-f", "json", *FAKE).stdout)
    specs = [f"{name}(weights='fake')" for name in ("storyer", "criteria", "coherence", "rovist_c")]
    asked = [word for spec in specs for word in ("-m", spec)]
    scored = fabula("score", tale, *asked, "--scores", "--no-cache", "-q")
    rows = map(json.loads, scored.stdout.splitlines())
    values = {(row["scorer"].partition("(")[0], row["aspect"]): row["value"] for row in rows}
    assert review["preference"] == values["storyer", ""]
    assert review["percentile"] == values["storyer", "percentile"]
    assert review["coherence"] == values["coherence", ""]
    assert review["order"] == values["rovist_c", ""]
    assert len(review["criteria"]) == 5
    for name, value in review["criteria"].items():
        assert value == values["criteria", name]


def test_comments_can_be_left_out_or_differ_by_seed(fabula: Run, tale: Path) -> None:
    none = json.loads(fabula("review", tale, "-f", "json", "--comments", "none", *FAKE).stdout)
    assert not any(one["comment"] for one in none["aspects"])
    said = {
        fabula("review", tale, "-f", "json", "--seed", str(seed), *FAKE).stdout for seed in range(3)
    }
    assert len(said) > 1


def test_a_model_that_says_nothing_of_use_leaves_composed_comments(fabula: Run, tale: Path) -> None:
    words = ("--comments", "written", "--writer", "fake()")
    found = json.loads(fabula("review", tale, "-f", "json", *words, *FAKE).stdout)
    assert {one["by"] for one in found["aspects"] if one["comment"]} == {"composed"}


def test_who_is_to_write_comments_must_be_named(fabula: Run, tale: Path) -> None:
    for form in ("written", "raw"):
        done = fabula("review", tale, "--comments", form, *FAKE)
        assert done.returncode == 2 and b"name a language model" in done.stderr


def test_a_page_is_written_where_the_name_says_html(
    fabula: Run, tale: Path, tmp_path: Path
) -> None:
    done = fabula("review", tale, "-o", "out/page.html", *FAKE[:-1])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"wrote out/page.html\n")
    assert (
        (tmp_path / "out" / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    )


def test_a_story_may_come_from_a_pipe(fabula: Run) -> None:
    done = fabula("review", "-", *FAKE, stdin="\ufeffIt rained.\r\nWe left.".encode())
    assert done.returncode == 0 and done.stdout.decode().startswith("stdin\n")


@pytest.mark.parametrize("suffix", ["html", "md", "json", "txt"])
def test_a_review_is_written_in_the_form_that_the_name_says(
    fabula: Run, tale: Path, tmp_path: Path, suffix: str
) -> None:
    assert fabula("review", tale, "-o", f"out.{suffix}", *FAKE).returncode == 0
    begins = {"html": "<!doctype html>", "md": "# keeper", "json": "{", "txt": "keeper\n"}
    assert (tmp_path / f"out.{suffix}").read_text(encoding="utf-8").startswith(begins[suffix])


def test_what_is_not_written_is_refused_before_anything_is_done(
    fabula: Run, tale: Path, tmp_path: Path
) -> None:
    done = fabula("review", tale, "-o", "out.docx", *FAKE)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == (
        "fabula: no review is written as .docx; known: .html, .md, .json, .txt, .csv\n"
    )
    done = fabula("review", tale, "-f", "json", "-o", "out.html", *FAKE)
    assert done.returncode == 2 and b"-f says json, and the name out.html html" in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("out")] == []


def test_the_story_itself_is_never_written_over(fabula: Run, tale: Path) -> None:
    done = fabula("review", tale, "-o", tale, *FAKE)
    assert done.returncode == 2 and b"is what is being read" in done.stderr
    assert tale.read_text(encoding="utf-8") == TEXT


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to try")
def test_a_full_disk_leaves_no_file_and_says_so(fabula: Run, tale: Path, tmp_path: Path) -> None:
    limited = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); "
        "from fabula.cli import main; main()"
    )
    words = ("review", str(tale), "-o", "page.html", *FAKE)
    done = subprocess.run(
        [sys.executable, "-c", limited, *words], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"fabula: page.html cannot be written (File too large)")
    assert list(tmp_path.rglob("*page.html*")) == []


def test_a_folder_gives_a_page_for_each_story_with_links_from_the_ranking(
    fabula: Run, tales: Path, tmp_path: Path
) -> None:
    done = fabula("review", tales, "-o", "reviews", *FAKE[:-1])
    assert done.stderr.decode().splitlines()[-1] == (
        "wrote reviews/index.html and 3 pages in reviews"
    )
    ranking = (tmp_path / "reviews" / "index.html").read_text(encoding="utf-8")
    for name in ("long", "half", "none"):
        assert f'href="{name}.html"' in ranking
        page = (tmp_path / "reviews" / f"{name}.html").read_text(encoding="utf-8")
        assert 'href="index.html"' in page and f"<bdi>{name}</bdi>" in page
    assert fabula("review", tales, "-o", "rank.html", *FAKE).returncode == 0
    assert 'href="rank_pages/long.html"' in (tmp_path / "rank.html").read_text(encoding="utf-8")
    page = (tmp_path / "rank_pages" / "long.html").read_text(encoding="utf-8")
    assert 'href="../rank.html"' in page


def test_a_page_that_is_not_ours_is_not_written_over(
    fabula: Run, tales: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "reviews" / "index.html"
    mine.parent.mkdir()
    mine.write_text("<title>My own site</title>", encoding="utf-8")
    done = fabula("review", tales, "-o", "reviews", *FAKE)
    assert done.returncode == 2 and b"reviews/index.html is there, and not by Fabula" in done.stderr
    assert mine.read_text(encoding="utf-8") == "<title>My own site</title>"
    assert fabula("review", tales, "-o", "reviews", "--overwrite", *FAKE).returncode == 0
    assert fabula("review", tales, "-o", "reviews", *FAKE).returncode == 0
    done = fabula("review", tales, "-o", tales, *FAKE)
    assert done.returncode == 2 and len(list(tales.iterdir())) == 3


@pytest.mark.parametrize("suffix", ["md", "docx", "odt"])
def test_a_document_is_reviewed_as_its_text(fabula: Run, tmp_path: Path, suffix: str) -> None:
    path = write_document(tmp_path / f"keeper.{suffix}", TEXT.split("\n\n"))
    found = json.loads(fabula("review", path, "-f", "json", *FAKE).stdout)
    assert (found["story"], found["statistics"]["words"]) == ("keeper", len(words(TEXT)))
    assert len(found["transitions"]) == len(split_sentences(TEXT)) - 1


def test_escape_sequences_of_a_story_do_not_reach_the_terminal(fabula: Run, tmp_path: Path) -> None:
    path = tmp_path / "keeper.txt"
    path.write_text(TEXT.replace("Mara", "Ma\x1b]0;owned\x07\x1b[2Jra"), encoding="utf-8")
    done = fabula("review", path, *FAKE)
    assert done.returncode == 0 and b"\x1b" not in done.stdout and b"\x07" not in done.stdout


def test_code_gets_a_sentence_and_counts_and_no_advice(fabula: Run, tmp_path: Path) -> None:
    path = tmp_path / "code.txt"
    path.write_text(Path(__file__).read_text(encoding="utf-8"), encoding="utf-8")
    text = fabula("review", path, "--no-cache").stdout.decode()
    assert "No opinion: it has " in text
    for head in ("Liked", "Criteria", "Coherence", "Questions", "From sentence"):
        assert head not in text
    assert "Statistics" in text and "Repetition" in text


def test_a_folder_gives_a_ranking(fabula: Run, tales: Path) -> None:
    text = fabula("review", tales, *FAKE).stdout.decode()
    assert text.startswith("3 stories of tales, the best liked first")
    rows = list(
        csv.DictReader(io.StringIO(fabula("review", tales, "-f", "csv", *FAKE).stdout.decode()))
    )
    assert [row["rank"] for row in rows] == ["1", "2", ""]
    assert float(rows[0]["wins"]) + float(rows[1]["wins"]) == pytest.approx(1)
    found = json.loads(fabula("review", tales, "-f", "json", *FAKE).stdout)
    assert found["rows"][0]["story"] == rows[0]["story"]


def test_where_weights_are_missing_the_rest_is_given(fabula: Run, tale: Path) -> None:
    done = fabula("review", tale, "-f", "json", "--no-cache")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["statistics"]["words"] > 200
    assert found["preference"] is not None or found["missing"]


@pytest.mark.parametrize(
    ("words", "stdin", "expected"),
    [
        (("nowhere.txt",), b"", "nowhere.txt: no such file or folder; check the path"),
        (("-",), b" \n", "stdin: holds no text; give a file with a story in it"),
        (("-",), b"\x7fELF\x00\x01", "stdin: no text but binary data; give a text file"),
        (("-",), b"caf\x81", "stdin, line 1, byte 4: neither UTF-8 nor cp1252 text"),
        (("-", "--encoding", "nope"), b"a", "no encoding is called 'nope'; try utf-8"),
        (("-", "-f", "csv"), b"A day.", "one review is not written as csv; take json"),
        (("-", "--weights", "nope"), b"A day.", "no asset is called 'nope', nor is there"),
        (
            ("-", "-f", "json", "-o", "."),
            b"A day.",
            "a folder takes pages, not json; name a file for -f json",
        ),
    ],
)
def test_what_the_user_can_mend_is_one_line(
    fabula: Run, words: tuple[str, ...], stdin: bytes, expected: str
) -> None:
    done = fabula("review", *words, stdin=stdin)
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.decode().startswith(f"fabula: {expected}")
