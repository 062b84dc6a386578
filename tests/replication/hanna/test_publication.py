from __future__ import annotations

from pathlib import Path

from fabula.meta.study import Study
from fabula.replication.hanna import HannaPublication, Printed
from fabula.replication.hanna.publication import read_publication
from fabula.reports.study import make_sections
from fabula.reports.study_blocks import FigureBlock, TableBlock, blocks_of
from fabula.reports.study_view import PrintedValue, Publication, View
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
