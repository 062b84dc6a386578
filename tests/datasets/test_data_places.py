from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from fabula.core.errors import InputError, UnknownName, UserError
from fabula.datasets import (
    Place,
    add_place,
    find_place,
    is_added,
    list_added,
    load_dataset,
    places_file,
    read_places,
    remove_place,
)

WIDE = "id,who,fun,bleu\n1,ann,3,0.5\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_nothing_is_known_at_first_and_asking_writes_nothing(home: Path) -> None:
    assert read_places() == {} and list_added() == [] and find_place("hanna") is None
    assert not home.exists()


def test_a_place_is_remembered_whole_and_forgotten() -> None:
    place = Place("/home/ann/t.csv", ("fun",), {"rater": "who"}, ("bleu",))
    add_place("mine", place)
    add_place("hanna", Place("/home/ann/hanna"))
    assert read_places() == {"hanna": Place("/home/ann/hanna"), "mine": place}
    assert list_added() == ["mine"] and is_added("mine") and not is_added("hanna")
    assert find_place("hanna") == Path("/home/ann/hanna")
    assert remove_place("mine") and not remove_place("mine")
    assert list(read_places()) == ["hanna"]


def test_a_table_of_ones_own_is_loaded_by_its_name(write) -> None:
    path = write("t.csv", WIDE)
    add_place("mine", Place(str(path), ("fun",), {"rater": "who"}, ("bleu",)))
    found = load_dataset("mine")
    assert found.name == "mine" and found.scorers["bleu"].direction == "lower"
    assert [score.scorer for score in found.ratings] == ["human:ann"]
    with pytest.raises(UnknownName, match="no data set is called 'mnie'; did you mean 'mine'"):
        load_dataset("mnie")


def test_a_data_set_is_found_where_it_was_added(write) -> None:
    head = ",Prompt,Human,Story,Model\n0,P,H,Once.,m\n"
    path = write("there/hanna_llm_stories.csv", head)
    add_place("hanna_llm", Place(str(path.parent)))
    assert load_dataset("hanna_llm", partial=True).stories[0].text == "Once."


def test_a_damaged_file_is_named(home: Path) -> None:
    home.mkdir()
    for text in ("{", "[1]", '{"a": 1}', '{"a": {}}'):
        places_file().write_text(text)
        with pytest.raises(InputError, match=r"datasets\.json is damaged; delete it"):
            read_places()


def test_a_home_that_cannot_be_written_is_an_error_that_says_so(home: Path) -> None:
    home.write_text("a file, no folder")
    with pytest.raises(UserError, match=r"datasets\.json cannot be written"):
        add_place("mine", Place("/home/ann/t.csv"))


def test_a_kill_while_writing_leaves_the_old_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_place("mine", Place("/home/ann/t.csv"))
    before = places_file().read_text()

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        add_place("other", Place("/home/ann/u.csv"))
    assert places_file().read_text() == before
    assert {path.name for path in home.iterdir()} == {"datasets.json"}


def _remember_many(number: int) -> None:
    for place in range(10):
        add_place(f"own{number}_{place}", Place(f"/home/ann/{number}/{place}"))


def test_processes_that_add_at_once_lose_nothing() -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(4) as pool:
        pool.map(_remember_many, range(4))
    assert sorted(read_places()) == sorted(f"own{n}_{p}" for n in range(4) for p in range(10))
