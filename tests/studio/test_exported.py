"""Exports read again: suggestions with what their stories told before."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from fabula.core.errors import InputError
from fabula.datasets.storium import games
from fabula.studio.cards import add_card
from fabula.studio.edits import Edit
from fabula.studio.export import export_studio
from fabula.studio.exported import read_coauthor, read_export
from fabula.studio.publishing import publish_entry
from fabula.studio.versions import save_draft
from fakes.release_samples import SAMPLES, lines, put
from fakes.studio_writing import begin_draft, lay_table, put_suggestion

ROW = {"generated": "The grey ferry left.", "published": "The ferry left."}


def publish(studio, table, key, generated, text):
    draft = begin_draft(studio, table, key)
    shown = {"kind": "character", "title": "Mara Voss", "text": "A smuggler from Aldermoor."}
    context = {"segments": [shown], "text": "Night fell on Hale."}
    put_suggestion(studio, draft, generated, context=context)
    save_draft(studio, table.person, draft.id, key="k", base_version=0, edits=[Edit(0, 0, text)])
    publish_entry(studio, table.person, draft.id, version=1)


@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
def test_an_export_tells_characters_cards_and_what_was_written_before(studio, tmp_path, form):
    table = lay_table(studio)
    add_card(
        studio, table.person, table.game_id, key="c", namespace="place", name="Brindle Harbour",
        description="Where Captain Orrin waits.",
    )  # fmt: skip
    publish(studio, table, "a", "So Tobin sang.", "So Tobin sang loudly.")
    publish(studio, table, "b", "Then Ilse came.", "Then Ilse came back.")
    export_studio(studio, None, tmp_path / "out", form=form)
    # Whoever learns from games reads the same folder.
    (game,) = games(tmp_path / "out")
    assert game.id == table.game_id
    texts = [entry.text for scene in game.scenes for entry in scene.entries]
    assert texts[-2:] == ["So Tobin sang loudly.", "Then Ilse came back."]
    read = read_export(tmp_path / "out")
    assert read.unpublished == 0
    first, second = read.edits
    assert (first.generated, first.published) == ("So Tobin sang.", "So Tobin sang loudly.")
    assert first.machine == "lorem" and first.game == table.game_id == second.game
    assert first.author == second.author != table.person.id
    assert first.moment is not None and first.moment.tzinfo is not None
    origins = {
        name: (first.told.find_origin(name), second.told.find_origin(name))
        for name in ("Mara", "Brindle", "Orrin", "Aldermoor", "Hale", "Tobin", "Ilse")
    }
    assert origins == {
        "Mara": ("character", "character"),
        "Brindle": ("card", "card"),
        "Orrin": ("text", "text"),
        "Aldermoor": ("text", "text"),
        "Hale": ("text", "text"),
        # Tobin came with the first entry, and is known to the second.
        "Tobin": ("new", "text"),
        "Ilse": ("new", "new"),
    }


def test_any_table_with_two_columns_will_do(tmp_path):
    file = tmp_path / "kept.csv"
    file.write_text(
        "generated,published,machine,author,published_at\n"
        "One text.,One.,m,ann,2027-01-02T03:04:05\n"
        "Two texts.,,m,ann,\n"
        "Three texts.,Three.,,,\n",
        encoding="utf-8",
    )
    read = read_export(file)
    assert read.unpublished == 1
    first, last = read.edits
    assert (first.machine, first.author) == ("m", "ann")
    assert first.moment == datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)
    # Who wrote the other, where and with what is not told: it stands by itself.
    assert (last.machine, last.author, last.game) == ("unknown", "row 3", "row 3")
    assert last.moment is None and last.told is None


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"generated": "A."}], "no column published"),
        ([{"text": "A."}], "no column generated and no column published"),
        ([ROW | {"published_at": "yesterday"}], "'yesterday' is no time"),
        ([ROW | {"context": "{"}], "a cell is no JSON"),
        ([ROW | {"published": None}], "no suggestion was published"),
    ],
)
def test_what_is_wrong_is_said_with_its_row(tmp_path, rows, said):
    file = tmp_path / "kept.jsonl"
    file.write_text(lines(*rows), encoding="utf-8")
    with pytest.raises(InputError, match=said) as caught:
        read_export(file)
    assert "kept.jsonl" in str(caught.value)


def test_a_folder_without_an_export_and_a_path_without_a_file_are_refused(tmp_path):
    with pytest.raises(InputError, match="no export of a studio"):
        read_export(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_export(tmp_path / "none.json")


def test_odd_json_of_others_is_passed_over(tmp_path):
    (tmp_path / "suggestions.json").write_text(
        json.dumps([ROW | {"game": "g", "context": {"segments": "none", "text": None}}]),
        encoding="utf-8",
    )
    game = {"characters": [None, {"name": 7}], "scenes": {"entries": 3}, "cards": "x"}
    (tmp_path / "games.json").write_text(
        json.dumps([{"game": "g", "story": None, "json": game}]), encoding="utf-8"
    )
    [edit] = read_export(tmp_path).edits
    assert edit.told.characters == (" 7 ",) and edit.told.cards == ()


def test_coauthors_suggestions_stand_beside_what_was_left_of_them(tmp_path):
    read = read_coauthor(put(tmp_path, SAMPLES["coauthor"]))
    first = read.edits[0]
    assert (first.generated, first.author, first.machine) == (
        "It said no.", "w01", "temperature 0.3",
    )  # fmt: skip
    assert first.published.strip() == "It said no. Twice."
    assert first.told.find_origin("well") == "text"
    assert first.moment == datetime.fromtimestamp(0.001, UTC)
    # A single suggestion that was taken counts here too.
    assert "Why?" in [edit.generated for edit in read.edits]
