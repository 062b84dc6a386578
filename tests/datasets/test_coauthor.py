from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from fabula.core.dataset import Preference
from fabula.core.errors import InputError
from fabula.datasets.coauthor import load
from fakes.release_samples import SAMPLES, lines, put

SESSION = {
    "session": "s", "worker": "w", "prompt_code": "p", "meta": {"temperature": "0.3"},
}  # fmt: skip
REQUEST = {
    "session": "s", "cursor": 2, "context": "A.\n", "suggestions": ["B.", "C."], "chosen": 0,
}  # fmt: skip


def release(request: dict[str, Any], *sessions: dict[str, Any]) -> dict[str, str]:
    return {"requests.jsonl": lines(request), "sessions.jsonl": lines(*sessions or [SESSION])}


def test_what_was_taken_is_preferred_to_each_of_the_others_by_its_writer(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["coauthor"]))
    assert dataset.preferences == (
        Preference("well:aa11/1.2", "well:aa11/1.1", "w01"),
        Preference("well:aa11/1.2", "well:aa11/1.4", "w01"),
        Preference("well:aa11/2.1", "well:aa11/2.2", "w01"),
        Preference("well:bb22/1.3", "well:bb22/1.1", "w02"),
        Preference("well:bb22/1.3", "well:bb22/1.2", "w02"),
    )


def test_a_suggestion_is_a_story_on_the_text_before_the_cursor(tmp_path: Path) -> None:
    stories = {story.id: story for story in load(put(tmp_path, SAMPLES["coauthor"])).stories}
    story = stories["well:aa11/2.2"]
    assert (story.text, story.prompt) == ("Thrice.", "A well that answers. It said no.")
    assert (story.item, story.system) == ("well:aa11", "temperature 0.3")


def test_requests_without_a_choice_between_several_are_left_out(tmp_path: Path) -> None:
    texts = {story.text for story in load(put(tmp_path, SAMPLES["coauthor"])).stories}
    assert not texts & {"Never again.", "Why?"}


def test_the_place_in_the_list_is_a_baseline(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["coauthor"]))
    assert [score.value for score in dataset.scores] == [1, 2, 4, 1, 2, 1, 2, 3]
    assert dataset.scorers["place"].family == "baseline"
    assert dataset.scorers["place"].direction == "lower"


def test_one_file_stands_for_the_folder_of_both(tmp_path: Path) -> None:
    folder = put(tmp_path, SAMPLES["coauthor"])
    assert load(folder / "requests.jsonl").stories == load(folder).stories
    (folder / "sessions.jsonl").unlink()
    with pytest.raises(InputError, match=r"sessions\.jsonl \(plain or \.gz\) is not there"):
        load(folder / "requests.jsonl")


def test_a_request_at_an_empty_page_has_no_prompt(tmp_path: Path) -> None:
    first, _ = load(put(tmp_path, release(REQUEST | {"context": "\n", "cursor": 0}))).stories
    assert first.prompt is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chosen": 2}, "chosen 2 is none of 2 suggestions"),
        ({"chosen": True}, "chosen True is none of 2 suggestions"),
        ({"chosen": -1}, "chosen -1 is none of 2 suggestions"),
        ({"cursor": -1}, "cursor -1 is no place in the text"),
        ({"session": "t"}, "no session 't' in sessions.jsonl"),
        ({"suggestions": []}, "field 'suggestions' is no list of texts"),
    ],
)
def test_a_request_that_is_wrong_is_named(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=f"requests.jsonl, line 1: {message}"):
        load(put(tmp_path, release(REQUEST | changes)))


def test_a_session_that_is_wrong_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sessions.jsonl, line 2: session 's' has a row already"):
        load(put(tmp_path, release(REQUEST, SESSION, SESSION)))
    with pytest.raises(InputError, match="line 1, meta: field 'temperature' is missing"):
        load(put(tmp_path, release(REQUEST, SESSION | {"meta": {}})))


def test_writers_of_the_release_are_many_and_their_choices_stay_within_a_request(
    shared: Path,
) -> None:
    dataset = load(shared / "data" / "coauthor")
    assert len({choice.rater for choice in dataset.preferences}) == 57
    # A request: the id without the place of the suggestion.
    taken = defaultdict(set)
    for choice in dataset.preferences:
        request = choice.better.rpartition(".")[0]
        assert choice.worse.rpartition(".")[0] == request
        taken[request].add(choice.better)
    assert all(len(better) == 1 for better in taken.values())
    prompts = {str(story.item).partition(":")[0] for story in dataset.stories}
    assert len(prompts) == 10
