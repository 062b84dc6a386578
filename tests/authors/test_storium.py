"""The co-author with segments: tiny models of two architectures, trained for a step."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabula.authors import load_author
from fabula.core.author import Request
from fabula.core.errors import InputError, UserError
from fabula.learned.training.author_games import prepare_games
from fabula.learned.training.author_segments import StoriumRecipe, train_storium
from fabula.text.context.segments import storium_context
from fakes.author_contract import CHECKS, make_request, write
from fakes.storium_games import FLOOD, LADLE, NARRATOR, entry, game
from fakes.tiny_models import save_gpt2, save_llama, torch

SCENE = [
    entry(1, "Rain fell.", format="establishment", **NARRATOR),
    *(
        entry(n, f"The dog ran away from house {n}.", role=f"character:{n % 2}")
        for n in range(2, 6)
    ),
]
MOVE = entry(6, "She said", target_challenge_card=FLOOD, cards_played_on_challenge=[LADLE])
GAME = game("g", SCENE)


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch()
    root = tmp_path_factory.mktemp(request.param)
    model = {"llama": save_llama, "gpt2": save_gpt2}[request.param](root / "m", positions=1024)
    exports = root / "games.jsonl"
    games = [GAME | {"game_pid": f"g{number}"} for number in range(3)]
    exports.write_text("".join(json.dumps(each) + "\n" for each in games), encoding="utf-8")
    recipe = StoriumRecipe(
        model=f"huggingface({str(model)!r}, device='cpu')", window=900, history=2, epochs=0.5,
        rate=0.05,
    )  # fmt: skip
    data = prepare_games(recipe, [str(exports)])
    train_storium(recipe, data, out=root / "author", report=lambda line: None)
    return root / "author"


@pytest.fixture(scope="module")
def author(folder: Path) -> Any:
    made = load_author(f"storium({str(folder)!r}, device='cpu')")
    made.startup()
    yield made
    made.shutdown()


def ask(**changes: Any) -> Request:
    context = storium_context(GAME, MOVE, story="g", **changes)
    return replace(make_request(), context=context)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_it_keeps_the_contract(author, check):
    check(author)


def test_a_game_is_shown_with_the_history_of_the_training(author):
    """The studio shows one entry before; the folder was trained with two."""
    seen = write(author, ask(history=1))["r"].seen
    assert [segment.kind for segment in seen].count("previous") == 2
    assert [segment.kind for segment in seen][-1] == "entry" and seen[-1].text == "She said"


def test_a_draft_in_a_scene_before_is_shown_that_scene(author):
    early, late = entry(1, "They went home."), entry(2, "A winter night.")
    told = game("g", [early], [late])
    context = storium_context(told, entry(None, "She"), story="two", scene=0)
    seen = write(author, replace(make_request(), context=context))["r"].seen
    assert [each.text for each in seen if each.kind == "previous"] == ["They went home."]


def test_what_tokens_belong_to_changes_what_is_written(author):
    """Marks of the context say more than its words: the same text under other marks."""
    request = ask(history=2)
    prompt = author._make_prompt(request)
    size = len(author.checkpoint.tokenizer)
    unmarked = tuple(number % size for number in prompt.ids)
    assert unmarked != prompt.ids and max(unmarked) < size
    loop = author._started()
    _, marked = loop.read("one", prompt.ids)
    _, plain = loop.read("other", unmarked)
    assert (marked - plain).abs().max() > 1e-3


def test_a_text_that_grows_is_read_on_not_anew(author):
    request = ask(history=2)
    first = write(author, request)["r"].text
    grown = replace(request, context=replace(request.context, text="She said" + first))
    before, after = author._make_prompt(request).ids, author._make_prompt(grown).ids
    assert after[: len(before)] == before
    assert write(author, grown)["r"].status == "done"


def test_other_folders_are_refused_by_name(folder, tmp_path):
    with pytest.raises(InputError, match="no model with segments"):
        load_author(f"storium({str(tmp_path)!r})")
    with pytest.raises(InputError, match="there is no folder"):
        load_author("storium('nowhere')")
    with pytest.raises(UserError, match="storium"):
        load_author(f"huggingface({str(folder)!r})").startup()
