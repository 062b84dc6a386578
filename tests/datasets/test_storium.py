from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets import Place, add_place, load_dataset
from fabula.datasets.storium import find_games, games, load
from fabula.datasets.story_games.statistics import count_game_words
from fakes.release_samples import lines, put
from fakes.storium_games import SMALL, card, entry, game, long_game


def test_every_entry_with_text_is_a_story(tmp_path: Path) -> None:
    put(tmp_path, {"a/g1.json": json.dumps(SMALL)})
    assert load_dataset("storium", tmp_path).stories == (
        Story("g1/1/1", "Rain fell.", system="narrator", item="g1/1"),
        Story("g1/1/2", "Ida stirs the flood.", system="character:1", item="g1/1"),
        Story("g1/2/4", "It ends.", system="narrator", item="g1/2"),
    )


def test_a_folder_and_a_file_of_lines_and_gzip_give_the_same(tmp_path: Path) -> None:
    both = [SMALL, long_game("g2", 3)]
    folder = put(tmp_path / "a", {f"{n}.json": json.dumps(one) for n, one in enumerate(both)})
    file = put(tmp_path / "b", {"games.jsonl": lines(*both)}) / "games.jsonl"
    packed = tmp_path / "games.jsonl.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert load(folder).stories == load(file).stories == load(packed).stories
    assert [found.id for found in games(folder)] == ["g1", "g2"]


def test_other_files_of_the_folder_are_left_alone(tmp_path: Path) -> None:
    put(tmp_path, {"g1.json": json.dumps(SMALL), "g1.json.bak": "?", "notes.txt": "?"})
    assert len(load(tmp_path).stories) == 3


def test_a_folder_without_games_says_so(tmp_path: Path) -> None:
    for path in (tmp_path, None):
        with pytest.raises(InputError, match="no exported games"):
            load(path)


def test_games_are_found_by_path_or_by_the_name_of_a_data_set(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    assert find_games(tmp_path) == find_games(str(tmp_path)) == tmp_path
    assert len(list(games(find_games("storium_samples")))) == 3
    with pytest.raises(InputError, match="storium: no such file, folder or data set of games"):
        find_games("storium")
    add_place("storium", Place(str(tmp_path)))
    assert find_games("storium") == tmp_path


def test_of_a_studios_export_its_games_are_read_each_as_it_was_last(tmp_path: Path) -> None:
    """A platform uploads a game again when it has grown: it is one game."""
    rows = [
        {"game": None, "story": "one", "json": SMALL},
        {"game": "g2", "story": None, "json": long_game("g2", 3)},
        {"game": None, "story": "two", "json": long_game("g1", 5)},
    ]
    put(tmp_path, {"games.json": json.dumps(rows), "suggestions.json": "[]", "edits.json": "[]"})
    for path in (tmp_path, tmp_path / "games.json"):
        found = list(games(path))
        assert [each.id for each in found] == ["g1", "g2"]
        assert [count_game_words(each) for each in found] == [5, 3]
    (tmp_path / "suggestions.json").unlink()
    with pytest.raises(InputError, match="a list, not an object"):
        list(games(tmp_path))


def test_a_game_that_comes_twice_is_refused(tmp_path: Path) -> None:
    put(tmp_path, {"a.json": json.dumps(SMALL), "b.json": json.dumps(SMALL)})
    with pytest.raises(InputError, match=r"b\.json: game 'g1' again, after a\.json"):
        load(tmp_path)


def broken(**changes: object) -> dict[str, object]:
    return game("g", [entry(1, "One."), entry(2, "Two.", **changes)])


def without(key: str) -> dict[str, object]:
    second = {name: value for name, value in entry(2, "Two.").items() if name != key}
    return game("g", [entry(1, "One."), second])


@pytest.mark.parametrize("key", sorted(set(entry(1, "")) - {"description"}))
def test_a_required_key_that_is_missing_is_named_with_its_place(tmp_path: Path, key: str) -> None:
    put(tmp_path, {"g.json": json.dumps(without(key))})
    with pytest.raises(InputError, match=rf"g\.json, scene 1, entry 2: key '{key}' is missing"):
        load(tmp_path)


@pytest.mark.parametrize("key", sorted(card()))
def test_a_required_key_of_a_card_that_is_missing_is_named(tmp_path: Path, key: str) -> None:
    poor = {name: value for name, value in card().items() if name != key}
    put(tmp_path, {"g.json": json.dumps(broken(challenge_cards=[card("c0"), poor]))})
    place = rf"g\.json, scene 1, entry 2, challenge_cards 2: key '{key}' is missing"
    with pytest.raises(InputError, match=place):
        load(tmp_path)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (broken(format="prologue"), "entry 2: key 'format' is not one of establishment, addition"),
        (broken(role="bard"), "key 'role' is not narrator or character:<number>"),
        (broken(created_at="yesterday"), "key 'created_at' is not a time"),
        (broken(hand_context={"pre": "same"}), "key 'hand_context' is not an object"),
        (broken(challenge_completion_polarity=2), "'challenge_completion_polarity' is not one of"),
        (broken(description=5), "entry 2: key 'description' is not text"),
        (broken(seq_id=1), "scene 1: 2 entries with seq_id '1'"),
        (
            broken(autotexts=[{"type": "giveCard", "text": ""}]),
            "autotext 1: key 'automatic' is",
        ),
        (broken(place_card={}), "entry 2, place_card: key 'card_id' is missing"),
        (broken(challenge_cards=[card(namespace="joker")]), "key 'namespace' is not one of"),
        (game("g", scenes=[[]]), "scene 1: a list, not an object"),
        (game("g", characters=[{}]), "character 1: key 'character_seq_id' is missing"),
        (game("", []), "key 'game_pid' is not a number or text"),
        ({"game_pid": "g"}, "key 'characters' is missing"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    tmp_path: Path, value: dict[str, object], message: str
) -> None:
    put(tmp_path, {"g.json": json.dumps(value)})
    with pytest.raises(InputError, match=message):
        load(tmp_path)


@pytest.mark.parametrize("time", ["2020-1-31 7:05:00 UTC", "2020-01-31T07:05:00.123Z"])
def test_times_may_be_written_in_both_ways(tmp_path: Path, time: str) -> None:
    put(tmp_path, {"g.json": json.dumps(broken(created_at=time))})
    assert len(load(tmp_path).stories) == 2
