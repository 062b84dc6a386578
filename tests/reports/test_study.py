from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest

from fabula._version import __version__
from fabula.core.errors import UnknownName, UserError
from fabula.meta.study import Study
from fabula.reports.correlations import study_signature
from fabula.reports.study import make_sections, write_plain_study, write_report
from fabula.reports.study_blocks import FigureBlock, TableBlock, blocks_of
from fabula.reports.study_view import View
from fakes.word_stories import ALL_PARTS, OF_RUN_METRICS, tales, view_of

OPTIONS = {"example": {"item": "i0", "systems": ["a", "b"], "metrics": ["good"]}}
NUMBER = re.compile(r"\b(?:Tables?|Figures?) \d")


@pytest.fixture(scope="module")
def view() -> View:
    return view_of(tales(), parts=ALL_PARTS, about=("What this **is**.",), options=OPTIONS)


@pytest.fixture(scope="module")
def folder(view: View, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of all parts."""
    into = tmp_path_factory.mktemp("study") / "new" / "report"
    made = [section for section, _ in make_sections(view) if section]
    assert write_report(view, into, made) == into / "study.html"
    return into


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_parts_are_made_in_the_order_of_the_file_and_timed(view: View) -> None:
    asked = replace(view, file=replace(view.file, parts=("scatter", "comparison", "classes")))
    made = list(make_sections(asked))
    assert [section and section.id for section, _ in made] == ["scatter", None, "classes"]
    assert [timed.part for _, timed in made] == ["scatter", "comparison", "classes"]
    assert all(timed.seconds >= 0 for _, timed in made)


def test_an_unknown_part_is_refused_with_the_closest(view: View) -> None:
    asked = replace(view, file=replace(view.file, parts=("scater",)))
    with pytest.raises(UnknownName, match=r"no part of a study is called 'scater'.*scatter"):
        list(make_sections(asked))


def test_the_page_has_every_section_and_facts(view: View, folder: Path) -> None:
    page = (folder / "study.html").read_text(encoding="utf-8")
    made = [section for section, _ in make_sections(view) if section]
    assert len(made) == len(ALL_PARTS) - len(OF_RUN_METRICS) - 1
    for section in made:
        assert f'href="#{section.id}"' in page and f'id="{section.id}"' in page
    assert re.search(r"What this <(b|strong)>is</\1>\.", page) and "<title>Tales" in page
    facts = dict(re.findall(r"<dt>(\w+)</dt>\s*<dd>([\d,]+)</dd>", page))
    assert facts == {
        "stories": "40", "items": "8", "systems": "5", "metrics": "3", "baselines": "4",
        "aspects": "2", "ratings": "240",
    }  # fmt: skip


def test_every_table_and_figure_lies_beside_the_page(view: View, folder: Path) -> None:
    sections = [section for section, _ in make_sections(view) if section]
    tables = {one.name for one in blocks_of(sections) if isinstance(one, TableBlock)}
    figures = {one.name for one in blocks_of(sections) if isinstance(one, FigureBlock)}
    assert {path.stem for path in folder.glob("tables/*.tex")} == tables
    assert {path.stem for path in folder.glob("tables/*.csv")} == tables | {"correlations"}
    assert {path.stem for path in folder.glob("figures/*.svg")} == figures
    shown = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    assert shown == {"study.html", "tables", "figures"}
    assert len(tables) >= 15 and len(figures) >= 30


def test_all_correlations_are_written_for_programs(view: View, folder: Path) -> None:
    rows = rows_of(folder / "tables" / "correlations.csv")
    assert len(rows) == len(view.result.correlations) == 7 * 2 * 3 * 3
    for row, one in zip(rows, view.result.correlations, strict=True):
        assert (row["metric"], row["aspect"], row["level"]) == (one.metric, one.aspect, one.level)
        assert float(row["value"] or "nan") == pytest.approx(one.estimate.value, nan_ok=True)
    assert not (folder / "tables" / "printed.csv").exists()


def test_tables_of_other_data_sets_bear_no_number_of_a_paper(view: View, folder: Path) -> None:
    texts = [folder / "study.html", *folder.glob("tables/*"), *folder.glob("figures/*")]
    assert [path.name for path in texts if NUMBER.search(path.read_text("utf-8"))] == []
    assert "HANNA" not in (folder / "study.html").read_text("utf-8")


def test_the_signature_says_what_the_numbers_rest_on(view: View, folder: Path) -> None:
    line = "study|toy|sign:oriented|draw:items|resamples:40|seed:0|alpha:0.05|settle:no"
    assert study_signature(view.result).startswith(line) and study_signature(view.result).endswith(
        f"fabula:{__version__}"
    )
    assert study_signature(view.result) in (folder / "study.html").read_text(encoding="utf-8")
    other = view_of(tales(), study=Study(resamples=20, seed=3, settle=True, sign="absolute"))
    assert "sign:absolute|draw:items|resamples:20|seed:3|" in study_signature(other.result)
    assert "settle:yes" in study_signature(other.result)


def test_a_data_set_without_a_study_file_has_the_usual_report(tmp_path: Path) -> None:
    path = write_plain_study(view_of(tales()).result, tmp_path / "out")
    page = path.read_text(encoding="utf-8")
    assert "<title>toy: metrics and ratings" in page
    assert all(f'id="{part}"' in page for part in ("standing", "labels", "scatter"))


@pytest.mark.parametrize(
    ("shape", "how"),
    [
        ((8, 1), {}),
        ((1, 5), {}),
        ((8, 2), {"texts": False}),
        ((8, 5), {"aspects": ("",), "raters": 1}),
        ((8, 5), {"aspects": ("how good?", "how good!", "plot/style", "…")}),
        ((1, 1), {}),
        ((8, 5), {"cards": {}}),
        ((8, 5), {"raters_known": False, "reference_systems": ("a",)}),
    ],
)
def test_whatever_the_data_lack_there_is_a_page(
    tmp_path: Path, shape: tuple[int, int], how: dict
) -> None:
    found = view_of(tales(shape, **how), study=Study(resamples=10)).result
    assert write_plain_study(found, tmp_path).stat().st_size > 50_000
    assert len(rows_of(tmp_path / "tables" / "correlations.csv")) == len(found.correlations)


@pytest.mark.parametrize(
    "how",
    [
        {"levels": ("system",)},
        {"levels": ("pooled",), "coefficients": ("spearman",)},
        {"coefficients": ("kendall_c", "pairwise", "soft_pairwise")},
        {"sign": "raw"},
        {"sign": "absolute", "drawn": "both"},
        {"control": "words"},
        {"aspects": ("style",), "references": True},
    ],
)
def test_however_the_study_asks_there_is_a_page(tmp_path: Path, how: dict) -> None:
    found = view_of(tales(), study=Study(resamples=10, **how)).result
    assert write_plain_study(found, tmp_path).is_file()


def test_what_is_held_constant_is_said(tmp_path: Path) -> None:
    held = view_of(tales(), study=Study(resamples=10, control="words"))
    assert "|control:words|" in study_signature(held.result)
    page = write_plain_study(held.result, tmp_path).read_text(encoding="utf-8")
    assert "words is held constant" in page


def test_the_average_is_that_of_the_aspects_of_the_study(tmp_path: Path) -> None:
    study = Study(resamples=10, aspects=("style",))
    write_plain_study(view_of(tales(), study=study).result, tmp_path)
    for row in rows_of(tmp_path / "tables" / "systems.csv"):
        name, style, average = row.values()
        assert name and float(style) == pytest.approx(float(average))


def test_a_place_that_cannot_be_written_is_an_error_of_the_user_s(
    view: View, tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(UserError, match="taken"):
        write_report(view, tmp_path / "taken", [])
