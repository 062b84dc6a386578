from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import UserError
from fabula.core.files import checksum_file
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.reports.report import write_report

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\ud800 \u202eשלום"


class Page(HTMLParser):
    """Gathers the elements of a page with their attributes."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def count(self, name: str) -> int:
        return sum(tag == name for tag, _ in self.elements)


@pytest.fixture
def page(make_run, two_systems) -> Path:
    return write_report(make_run(two_systems, "rouge(n=1)", "repetition"))


def test_the_page_stands_in_the_run_folder_with_its_tables(page: Path) -> None:
    assert page.name == "report.html" and (page.parent / "tables" / "systems.tex").exists()
    assert [path.name for path in page.parent.glob(".*")] == [".fabula.json"]


def test_nothing_is_loaded_from_anywhere(page: Path) -> None:
    for name, attributes in Page(page).elements:
        assert "src" not in attributes and name not in {"link", "iframe", "object", "img"}
        assert (attributes.get("href") or "#").startswith("#")
    style = page.read_text(encoding="utf-8").partition("</style>")[0]
    assert "url(" not in style and "@import" not in style


def test_the_header_says_what_was_scored(page: Path) -> None:
    text = re.sub(r"<[^>]*>", " ", page.read_text(encoding="utf-8"))
    words = " ".join(text.split())
    assert "tales.jsonl Scored 3 February 2026, 04:05 UTC with Fabula 0.1.0" in words
    assert "stories 8 systems 2 items 4 metrics 2" in words
    assert "One system stands out by 2 of 2 metrics: copy by" in words
    assert "Texts and scores of all 8 stories are in this file." in words


def test_baselines_that_the_run_left_out_are_shown_and_said_to_be_computed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "computed for this report" in text and "Baselines" in text


def test_signatures_papers_and_checksums_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    scores = checksum_file(page.parent / "scores.jsonl")
    for part in ("rouge(n=1)|tok:unicode", "@software{fabula,", "Lin (2004)", scores, "abc123"):
        assert part in text


def test_a_page_that_shows_few_texts_says_so(make_run, two_systems) -> None:
    path = write_report(make_run(two_systems, "words"), stories=3)
    text = path.read_text(encoding="utf-8")
    assert "Texts of 3 of 8 stories are in this file; all scores are." in text
    assert "fabula report run --stories all" in text


def test_hostile_stories_stay_text(make_run) -> None:
    stories = [
        Story(f"{HOSTILE}{n}", HOSTILE, HOSTILE, (HOSTILE,), (), f"{HOSTILE}{n}", HOSTILE)
        for n in range(2)
    ]
    plain = [Story(f"{n}", "a", "b", ("c",), (), f"s{n}", "i") for n in range(2)]
    pages = [
        Page(write_report(make_run(some, "rouge(n=1)", name=name)))
        for name, some in (("bad", stories), ("good", plain))
    ]
    for name in ("script", "img", "td", "li", "svg"):
        assert pages[0].count(name) == pages[1].count(name)


def test_only_the_page_s_own_script_may_run(page: Path) -> None:
    [policy] = [a["content"] for name, a in Page(page).elements if "http-equiv" in a]
    assert policy is not None and "default-src 'none'" in policy and "script-src 'sha256-" in policy


def test_a_page_may_be_written_elsewhere(make_run, two_systems, tmp_path: Path) -> None:
    output = tmp_path / "new" / "page.html"
    assert write_report(make_run(two_systems, "words"), output) == output
    assert output.exists() and (output.parent / "tables").is_dir()


def test_a_place_that_cannot_be_written_is_the_users_to_mend(
    make_run, two_systems, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        write_report(make_run(two_systems, "words"), tmp_path / "file" / "page.html")


def test_stories_without_system_item_prompt_or_reference_have_a_report(make_run) -> None:
    path = write_report(make_run([Story("a", "One."), Story("b", "Two.")], "words"))
    assert "resamples of the\n    stories" in path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_ten_thousand_stories_and_forty_columns_stay_below_15_mb(make_run) -> None:
    stories = [
        Story(f"story-{n}", f"Word {n} " * 300, "p", (f"Ref {n // 10} " * 300,), (), f"s{n % 10}",
              f"item-{n // 10}")
        for n in range(10_000)
    ]  # fmt: skip
    values = np.random.default_rng(0).normal(size=(35, 10_000))
    scores = [
        Score(story.id, f"human:r{rater}", "", float(values[rater, n]))
        for rater in range(35)
        for n, story in enumerate(stories)
    ]
    path = write_report(make_run(stories, "words", table=ScoreTable(stories, scores)))
    assert path.stat().st_size < 15_000_000
