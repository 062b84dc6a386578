from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets.hanna import CRITERIA
from fabula.meta.raters.icc import two_way
from fabula.meta.study import Study
from fabula.replication.hanna import HannaPublication, Printed
from fabula.replication.hanna.publication import read_publication
from fabula.replication.hanna.replicate import align_table_3
from fabula.reports.study import make_sections
from fabula.reports.study_blocks import FigureBlock, TableBlock, blocks_of
from fabula.reports.study_view import PrintedValue, Publication, View
from fakes.ratings import SHROUT_FLEISS
from fakes.word_stories import tales, view_of

PARTS = ("systems", "strongest", "ranking", "labels", "top_k", "significance")


def test_tables_bear_the_paper_s_numbers_also_without_its_values() -> None:
    plain = view_of(tales(), study=Study(resamples=40))
    view = View(plain.file, plain.result, HannaPublication())
    sections = [section for section, _ in make_sections(view) if section]
    titles = {
        block.name: block.title
        for block in blocks_of(sections)
        if isinstance(block, TableBlock | FigureBlock)
    }
    assert titles["systems"].startswith("Table 4. ")
    assert titles["f1_all_turned"].startswith("Figures 7 and 26. ")


def test_without_a_file_nothing_is_printed(tmp_path: Path) -> None:
    for path in (None, tmp_path / "absent.json"):
        publication: Publication = read_publication(path, tales())
        assert not publication.values and not publication.blocks("raters")
        assert not any(publication.remarks(part) for part in PARTS)


def test_a_printed_value_is_found_by_the_report_s_name_of_its_table() -> None:
    value = PrintedValue("Table 4: means", "GPT, empathy", 2.5, 2.5, 1e-9)
    publication = HannaPublication(Printed({"tables": {}}), [value])
    assert publication.value("systems", "GPT, empathy") is value
    assert publication.value("systems", "GPT, surprise") is None
    assert publication.value("top_k", "GPT, empathy") is None
    assert publication.remarks("systems") == ["1 of 1 printed means are equal to ours."]


def rated_by(raters_known: bool) -> Dataset:
    """Shrout and Fleiss' ratings, of which the second judge is six people, on every criterion."""
    stories = [Story(str(i), "Once.", system="GPT", item=str(i)) for i in range(6)]
    scores = [
        Score(str(i), f"human:{f'guest {i}' if j == 1 else f'main {j}'}", aspect, float(value))
        for aspect in CRITERIA.values()
        for i, row in enumerate(SHROUT_FLEISS[:, :3])
        for j, value in enumerate(row)
    ]
    card = DatasetCard("HANNA", "toy", "none", raters_known=raters_known)
    return Dataset("hanna", card, tuple(stories), ScoreTable(stories, scores))


def test_table_3_is_ours_where_it_is_known_who_rated_and_wants_ids_only_where_not() -> None:
    ours = align_table_3(rated_by(True))
    assert list(ours) == [*CRITERIA] and align_table_3(rated_by(False)) == {}
    whole = two_way(SHROUT_FLEISS[:, [0, 2, 1]])[2]
    assert ours["RE"].value == pytest.approx(whole.value)
    table = {"paper": {"RE": [0.1, 0.2, 0.3]}, "notebook_icc2k": {"RE": [0.1, 0.2, 0.3]}}
    printed = Printed({"tables": {"tab3_paper_and_notebook": table}})
    for slots, expected in (({"RE": ".5"}, ".5"), ({}, "needs worker ids")):
        [block] = HannaPublication(printed, (), slots).blocks("raters")
        assert isinstance(block, TableBlock) and block.rows[0][3] == expected
