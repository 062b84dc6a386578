from __future__ import annotations

import csv
import json
import math
import re
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import UserError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.run_data import ReportColumn
from fabula.reports.study_blocks import (
    Cell,
    FigureBlock,
    ScatterBlock,
    Section,
    StudyStories,
    TableBlock,
    TabsBlock,
    Words,
)
from fabula.reports.study_page import mark_up, study_json, write_study
from fakes.study import ASPECTS, make_study, study_sections

LEAD = Words(["A lead with **bold** words and `code`."])
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> & 100 %"


def table(name: str = "numbers", **changes) -> TableBlock:
    rows = [
        ("rouge", 0.5, 3),
        ("bleu", Cell(-0.25, tone="good", title="best"), None),
        ("words", math.nan, 1200),
    ]
    return TableBlock("Numbers", ("metric", "r", "n"), rows, name, **{"decimals": 2, **changes})


def figure(name: str = "map") -> FigureBlock:
    svg = draw_heatmap(np.eye(2), ["a", "b"], ["a", "b"], title="A map")
    return FigureBlock("A map", svg, name, note="What is shown.", alt="Two by two.")


def page(folder: Path, *blocks, **more) -> str:
    path = write_study(
        folder, title="A study", lead=LEAD, sections=[Section("one", "One", blocks)], **more
    )
    return path.read_text(encoding="utf-8")


def test_words_have_bold_and_code_and_nothing_else() -> None:
    assert mark_up("a **b** `c` <i>") == "a <strong>b</strong> <code>c</code> &lt;i&gt;"
    assert mark_up("2 ** 3 and `") == "2 ** 3 and `"


def test_tables_and_figures_stand_beside_the_page(tmp_path: Path) -> None:
    tabs = TabsBlock("Both", {"table": table("inside"), "figure": figure()})
    page(tmp_path, table(), tabs)
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*"))
    assert files == [
        ".fabula.json", "figures/map.svg", "study.html", "tables/inside.csv", "tables/inside.tex",
        "tables/numbers.csv", "tables/numbers.tex",
    ]  # fmt: skip
    ElementTree.parse(tmp_path / "figures" / "map.svg")


def test_files_hold_values_and_the_page_what_is_read(tmp_path: Path) -> None:
    text = page(tmp_path, table())
    with (tmp_path / "tables" / "numbers.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [
            ["metric", "r", "n"],
            ["rouge", "0.5", "3"],
            ["bleu", "-0.25", ""],
            ["words", "", "1200"],
        ]
    assert 'data-value="-0.25"' in text and "−0.25" in text and "1,200" in text
    latex = (tmp_path / "tables" / "numbers.tex").read_text(encoding="utf-8")
    assert r"\begin{tabular}{lrr}" in latex and r"\textbf{$-$0.25}" in latex
    assert r"words & -- & 1,200 \\" in latex


def test_facts_sections_and_signatures_are_there(tmp_path: Path) -> None:
    text = page(tmp_path, table(), facts={"stories": 1200}, signatures=["rouge|rev:1"])
    words = " ".join(re.sub(r"<[^>]*>", " ", text.partition("</style>")[2]).split())
    assert "stories 1,200 Contents One Signatures" in words and "rouge|rev:1" in words
    assert "<strong>bold</strong>" in text


def test_only_the_page_s_own_script_may_run_and_nothing_is_loaded(tmp_path: Path) -> None:
    text = page(tmp_path, figure())
    assert "default-src 'none'; script-src 'sha256-" in text
    assert not re.search(r'\b(src|href)="(?!#)', text) and "url(" not in text


def test_a_page_without_points_carries_no_reader(tmp_path: Path) -> None:
    assert 'id="reader"' not in page(tmp_path, figure())


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    story = Story(HOSTILE, HOSTILE, HOSTILE, (HOSTILE,), (), HOSTILE, HOSTILE)
    stories = StudyStories(
        [story],
        [ReportColumn(HOSTILE, HOSTILE)],
        np.array([[1.0]]),
        [Score(HOSTILE, HOSTILE, HOSTILE, 2.0)],
    )
    blocks = [
        Words([HOSTILE]),
        TableBlock(HOSTILE, (HOSTILE,), [(Cell(HOSTILE, HOSTILE, "bad", HOSTILE),)], "t", HOSTILE),
        ScatterBlock(HOSTILE, HOSTILE, {(HOSTILE, HOSTILE): {HOSTILE: 0.5}}),
        TabsBlock(HOSTILE, {HOSTILE: Words([HOSTILE])}),
    ]
    text = page(tmp_path, *blocks, stories=stories, facts={HOSTILE: HOSTILE}, signatures=[HOSTILE])
    assert text.count("<script") == 2 and "<img" not in text


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="named numbers"):
        page(tmp_path, table(), TabsBlock("", {"again": table()}))


@pytest.mark.parametrize("name", ["", "a/b", "a b", "../x"])
def test_names_that_are_no_file_s_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a file"):
        table(name)


def test_rows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="row 1 has 1 cells for 2 columns"):
        TableBlock("t", ("a", "b"), [("x",)], "t")


def test_points_need_stories(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs the stories"):
        page(tmp_path, ScatterBlock("Points"))


def test_the_page_carries_ratings_their_means_and_coefficients() -> None:
    stories = [Story("a", "x", system="s"), Story("b", "y", system="t")]
    ratings = [Score("a", "human:ann", "wit", 2.0), Score("a", "human:bob", "wit", 5.0)]
    study = StudyStories(
        stories, [ReportColumn("bleu", "")], np.array([[0.5], [math.nan]]), ratings
    )
    block = ScatterBlock(
        "p", coefficients={("bleu", "wit"): {"Pearson": 0.25, "Kendall": math.nan}}
    )
    found = json.loads(study_json(study, [block]))
    assert found["ratings"] == {
        "aspects": ["wit"],
        "of": [[["ann", [2.0]], ["bob", [5.0]]], []],
        "gold": [[3.5], [None]],
    }
    assert found["explorers"][0]["coefficients"] == [[[0.25, None]]]
    assert found["statuses"][int(found["values"][0][1])] == "undefined"


def test_a_place_that_cannot_be_written_is_the_users_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        page(tmp_path / "file" / "study", table())
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_a_large_study_is_written_within_five_seconds(tmp_path: Path) -> None:
    made = make_study()
    start = time.perf_counter()
    sections = study_sections(made, maps=24)
    path = write_study(tmp_path, title="t", lead=LEAD, sections=sections, stories=made.stories)
    took = time.perf_counter() - start
    size = path.stat().st_size
    print(f"\n24 maps of 72 × 72, 960 stories: {took:.2f} s, {size / 1e6:.2f} MB")
    assert len(made.stories.stories) == 960 and len(ASPECTS) == 6
    assert took < 5 and size < 15_000_000
