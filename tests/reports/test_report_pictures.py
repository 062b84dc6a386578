"""The report of a run whose stories have pictures."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fabula.reports import _report_pictures
from fabula.reports.report import render_report, write_report
from fakes.grounding import ToldGrounder, plain_nouns, told
from fakes.picture_runs import write_picture_run
from fakes.runs import write_run

__all__ = ["plain_nouns", "told"]


@pytest.fixture
def folder(tmp_path: Path, told: ToldGrounder) -> Path:
    """A run of two systems on two sequences of pictures, the second a part of the first."""
    return write_picture_run(tmp_path, told)


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_stories_of_one_sequence_stand_beside_its_pictures_and_links_lead_to_them(folder: Path):
    page = write_report(folder).read_text(encoding="utf-8")
    assert page.count('class="pictured"') == 2
    assert page.count("<img ") == 3
    assert page.count('class="telling"') == 4
    assert "img-src data:" in page
    anchors = data_of(page)["pictures"]
    assert anchors == {
        "0": "telling-0-0", "1": "telling-0-1", "2": "telling-1-0", "3": "telling-1-1",
    }  # fmt: skip
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links | set(anchors.values()) <= set(ids)
    # A place on a machine is nobody's business.
    assert str(folder.parent) not in page


def test_values_and_steps_are_those_of_the_run(folder: Path):
    page = write_report(folder).read_text(encoding="utf-8")
    telling = page.partition('id="telling-0-0"')[2].partition("</section>")[0]
    names = re.findall(r"<dt>(.*?)</dt>", telling)
    order = "RoViST-C (weights=&#x27;fake&#x27;)"
    assert names == ["RoViST-VG", "RoViST-VG original", order, "RoViST-NR"]
    assert telling.count('class="step') == 1
    assert re.search(r'class="noun weak"[^>]*>sea<sub>.20', telling)
    assert "wuwi" in page.partition('id="telling-0-1"')[2]


def test_a_usual_report_draws_the_first_sequences_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(_report_pictures, "MOST_SEQUENCES", 1)
    page = write_report(folder).read_text(encoding="utf-8")
    assert page.count('class="pictured"') == 1
    assert "Pictures of 1 of 2 sequences are in this file" in page
    monkeypatch.setattr(_report_pictures, "MOST_STORIES_OF_ONE", 1)
    page = write_report(folder).read_text(encoding="utf-8")
    assert page.count('class="telling"') == 1
    assert list(data_of(page)["pictures"]) == ["0"]
    page = write_report(folder, stories=None).read_text(encoding="utf-8")
    assert page.count('class="pictured"') == 2
    assert "sequences are in this file" not in page


def test_pictures_that_are_gone_are_named_and_the_others_drawn(folder: Path):
    (folder.parent / "a.png").unlink()
    page = write_report(folder).read_text(encoding="utf-8")
    assert page.count('class="pictured"') == 1
    [note] = re.findall(r"<p[^>]*>(Not drawn: .*?)</p>", page)
    assert note.startswith("Not drawn: 2 stories. ")
    assert note.count("a.png") == 2
    assert str(folder.parent) not in note


def test_a_page_that_is_only_shown_asks_no_model(folder: Path, told: ToldGrounder):
    told.looks.clear()
    page, policy = render_report(folder)
    assert told.looks == []
    assert "img-src" not in policy
    assert "in the page that <code>fabula report run</code> writes" in page


def test_a_run_without_pictures_has_no_such_section(tmp_path: Path):
    page = write_report(write_run(tmp_path / "plain")).read_text(encoding="utf-8")
    assert 'id="pictures"' not in page
    assert "pictures.css" not in page
    assert data_of(page)["pictures"] == {}
