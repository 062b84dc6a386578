"""Files that other programs read, with pseudonyms for people."""

from __future__ import annotations

import csv
import json

import pytest
from sqlalchemy import update

from fabula.core.errors import NotAllowed, UserError
from fabula.core.table import ScoreTable
from fabula.meta.study import Study
from fabula.scoring.sources import DatasetSource
from fabula.studio import tables
from fabula.studio.edits import Edit
from fabula.studio.export import export_studio
from fabula.studio.people import Person
from fabula.studio.privacy import delete_person
from fabula.studio.publishing import publish_entry
from fabula.studio.ratings import rate_suggestion
from fabula.studio.versions import save_draft
from fakes.studio_content import ASPECTS, BEGAN, fill_studio
from fakes.studio_writing import begin_draft, lay_table, put_suggestion


@pytest.fixture
def filled(studio):
    return fill_studio(studio, suggestions=8)


@pytest.fixture
def published(studio, filled):
    with studio.write() as db:
        db.execute(update(tables.drafts).values(state="published"))
    return filled


def read(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def test_suggestions_come_with_all_that_led_to_them(studio, filled, tmp_path):
    export_studio(studio, filled.reader, tmp_path)
    first, *others = read(tmp_path, "suggestions")
    assert len(others) == 7
    assert first["suggestion"] == filled.suggestions[0] and first["game"] == filled.game
    assert first["generated"] == "It rained for 3 days. The road was gone."
    assert first["published"] == "It rained for 3 days."
    assert (first["machine"], first["spec"]) == ("lorem", "lorem")
    assert first["decoding"] == {"temperature": 0.9} and first["seed"] == 0
    assert first["context"]["segments"][0]["text"] == "Once it"
    assert first["asked_at"] == BEGAN.isoformat()


def test_rows_are_the_rows_of_the_database(studio, published, tmp_path):
    done = export_studio(studio, None, tmp_path)
    assert done.rows == {
        "suggestions.json": 8, "ratings.json": 8 * 4, "metric_scores.json": 8 * 4,
        "edits.json": 4, "games.json": 1, "assignments.json": 1, "stories.jsonl": 8,
        "scores.jsonl": 8 * 8,
    }  # fmt: skip
    assert {row["aspect"] for row in read(tmp_path, "ratings")} == {*ASPECTS}
    assert [row["inserted"] for row in read(tmp_path, "edits")] == ["Once", " it"] * 2
    [assignment] = read(tmp_path, "assignments")
    assert (assignment["story"], assignment["machine"]) == (published.game, "lorem")
    undefined = [row for row in read(tmp_path, "metric_scores") if row["status"] != "ok"]
    assert len(undefined) == 8 and {row["value"] for row in undefined} == {None}


def test_the_log_of_a_draft_that_was_not_published_stays_inside(studio, filled, tmp_path):
    assert export_studio(studio, None, tmp_path).rows["edits.json"] == 0


def test_people_are_pseudonyms_that_stay_the_same(studio, published, tmp_path):
    for folder in ("one", "two"):
        export_studio(studio, published.reader, tmp_path / folder)
    one, two = (read(tmp_path / folder, "ratings") for folder in ("one", "two"))
    assert one == two
    raters = {row["rater"] for row in one}
    assert len(raters) == 2 == len({rater[:1] + str(len(rater)) for rater in raters}) + 1
    authors = {row["author"] for row in read(tmp_path / "one", "suggestions")}
    assert authors == raters == {row["author"] for row in read(tmp_path / "one", "edits")}
    for file in (tmp_path / "one").iterdir():
        text = file.read_text(encoding="utf-8")
        assert published.ann.id not in text and '"ann"' not in text


def test_names_are_for_admins(studio, filled, tmp_path):
    with pytest.raises(NotAllowed):
        export_studio(studio, filled.reader, tmp_path, names=True)
    assert not (tmp_path / "ratings.json").exists()
    export_studio(studio, filled.admin, tmp_path, names=True)
    assert {row["rater"] for row in read(tmp_path, "ratings")} == {"ann", "bob"}


def test_an_author_exports_nothing_and_a_scope_opens_its_part(studio, published, tmp_path):
    with pytest.raises(NotAllowed):
        export_studio(studio, published.ann, tmp_path)
    program = Person(published.ann.id, "ann", frozenset({"author"}), frozenset({"dataset"}))
    assert "edits.json" not in export_studio(studio, program, tmp_path / "a").rows
    program = Person(program.id, "ann", program.roles, frozenset({"dataset", "user_edits"}))
    assert export_studio(studio, program, tmp_path / "b").rows["edits.json"] == 4


def test_excluded_games_are_left_out_unless_asked_for(studio, published, tmp_path):
    with studio.write() as db:
        db.execute(update(tables.games).values(is_excluded=True))
    left = export_studio(studio, None, tmp_path / "left")
    assert set(left.rows.values()) == {0} and read(tmp_path / "left", "edits") == []
    whole = export_studio(studio, None, tmp_path / "whole", excluded=True)
    assert whole.rows["suggestions.json"] == 8 and whole.rows["edits.json"] == 4


def test_csv_holds_the_same(studio, filled, tmp_path):
    export_studio(studio, None, tmp_path, form="csv")
    with (tmp_path / "suggestions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8 and rows[1]["published"] == "It rained for 4 days."
    assert json.loads(rows[0]["decoding"]) == {"temperature": 0.9}
    assert rows[0]["started_at"] == "" and rows[0]["asked_at"] == BEGAN.isoformat()


def test_parquet_holds_the_same(studio, filled, tmp_path):
    from pyarrow import parquet

    export_studio(studio, None, tmp_path, form="parquet")
    table = parquet.read_table(tmp_path / "suggestions.parquet")
    assert (
        table.num_rows == 8 and str(table.schema.field("asked_at").type) == "timestamp[us, tz=UTC]"
    )
    assert table.column("asked_at")[0].as_py() == BEGAN
    assert parquet.read_table(tmp_path / "edits.parquet").schema.field("version").type == "int64"
    values = parquet.read_table(tmp_path / "metric_scores.parquet").column("value").to_pylist()
    assert values[:4] == [0.5, 1.0, 0.7, None]


def test_an_export_is_a_table_of_scores(studio, filled, tmp_path):
    export_studio(studio, None, tmp_path)
    table = ScoreTable.load(tmp_path)
    first = table.stories[0]
    assert (first.text, first.references) == (
        "It rained for 3 days. The road was gone.",
        ("It rained for 3 days.",),
    )
    assert {story.system for story in table.stories} == {"lorem", "other"}
    assert [story.item for story in table.stories[:4]] == [
        f"{filled.game}:{number}" for number in (1, 1, 2, 2)
    ]
    raters = [name for name in table.scorers if name.startswith("human:")]
    assert len(raters) == 2 and {*table.scorers} - {*raters} == {"user", "rouge(n=4)"}
    assert len(table.of(raters[0])) == 16


def test_meta_holds_the_metrics_of_an_export_against_its_authors(studio, filled, tmp_path):
    """USER's precision is .5, .6, … 1.2 and fluency 1 2 3 4 5 1 2 3: by hand, with mean ranks for
    ties, Spearman's rho is 8.5 / sqrt(42 · 40.5)."""
    export_studio(studio, None, tmp_path)
    dataset = DatasetSource(str(tmp_path)).load()
    assert dataset.counts | {"pairs": 0} == {
        "stories": 8, "items": 4, "systems": 2, "ratings": 32, "scores": 32, "pairs": 0,
    }  # fmt: skip
    study = Study(
        levels=("pooled",), coefficients=("spearman",), aspects=("fluency",), resamples=20
    )
    [found] = study.run(dataset).of(metric="user precision")
    assert found.estimate.value == pytest.approx(8.5 / (42 * 40.5) ** 0.5)


def test_who_has_gone_is_another_pseudonym(studio, filled, tmp_path):
    export_studio(studio, None, tmp_path / "before")
    delete_person(studio, filled.ann, filled.ann.id)
    export_studio(studio, None, tmp_path / "after")
    before, after = (
        {row["rater"] for row in read(tmp_path / folder, "ratings")}
        for folder in ("before", "after")
    )
    assert len(before) == len(after) == 2 and len(before & after) == 1


def test_files_of_others_are_not_written_over(studio, filled, tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "ratings.json").write_text("mine")
    with pytest.raises(UserError, match="not by Fabula"):
        export_studio(studio, None, folder)
    assert [path.name for path in folder.iterdir()] == ["ratings.json"]
    export_studio(studio, None, folder, overwrite=True)
    export_studio(studio, None, folder)


def test_what_was_written_published_and_rated_is_what_comes_out(studio, tmp_path):
    table = lay_table(studio)
    draft = begin_draft(studio, table)
    used = put_suggestion(studio, draft, "The grey ferry crossed at dawn.")
    put_suggestion(studio, draft, "", status="failed")
    edits = [Edit(0, 0, "The grey ferry crossed at dawn.", "machine", used), Edit(31, 31, " Snow.")]
    save_draft(studio, table.person, draft.id, key="k", base_version=0, edits=edits)
    publish_entry(studio, table.person, draft.id, version=1)
    rate_suggestion(studio, table.person, used, {"fluency": 4, "likability": 2}, "dry")
    done = export_studio(studio, None, tmp_path / "export")
    assert (done.rows["suggestions.json"], done.rows["stories.jsonl"]) == (2, 1)
    assert [row["source"] for row in read(tmp_path / "export", "edits")] == ["machine", "person"]
    exported = ScoreTable.load(tmp_path / "export")
    [story] = exported.stories
    assert story.references == ("The grey ferry crossed at dawn. Snow.",)
    by_aspect = {score.aspect: score.value for score in exported if score.scorer[:6] == "human:"}
    assert by_aspect == {"fluency": 4, "likability": 2}
    # Six words of six kept, of seven published.
    assert exported.means()["user.precision"] == 1 and exported.means()["user.recall"] == 6 / 7
    delete_person(studio, table.person, table.person.id)
    gone = export_studio(studio, None, tmp_path / "gone")
    assert gone.rows["edits.json"] == 0 and gone.rows["stories.jsonl"] == 1
    assert ScoreTable.load(tmp_path / "gone").means()["user.precision"] == 1
