"""A plan before the story: on a tiny model, and with plans that are given."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fabula.authors import load_author
from fabula.cli import cli
from fabula.core.author import Piece, Segment
from fabula.core.errors import UserError
from fabula.text.context.segments import prompt_context
from fakes.author_contract import CHECKS, make_request, write
from fakes.tiny_models import save_llama, torch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch()
    return save_llama(tmp_path_factory.mktemp("planner"), positions=1024)


@pytest.fixture(scope="module")
def author(folder: Path) -> Any:
    made = load_author(f"plan_and_write({str(folder)!r}, device='cpu')")
    made.startup()
    yield made
    made.shutdown()


def give_plan(request, words):
    plan = Segment("plan", words)
    context = replace(request.context, segments=(*request.context.segments, plan))
    return replace(request, context=context)


def find_plan(written):
    return [segment.text for segment in written.seen if segment.kind == "plan"]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_it_keeps_the_contract(author, check):
    check(author)


def test_a_plan_that_is_given_is_shown_right_before_the_text(author):
    request = give_plan(make_request(text="The letter"), "sailor # winter, night # home")
    plain = write(author, request)["r"]
    assert find_plan(plain) == ["sailor, winter, night, home"]
    author._plans["r"] = ["sailor", "home"]
    try:
        prompt = author._make_prompt(request)
    finally:
        author._plans.clear()
    shown = author._decode(prompt.ids)
    # It is no block among the others, and stands where training has it.
    assert shown.endswith("***\nPlot: sailor # home\n\nThe letter")
    assert shown.count("sailor") == 1
    other = write(author, give_plan(make_request(text="The letter"), "cat # dog"))["r"]
    assert other.text != plain.text


def test_a_plan_goes_on_from_the_words_of_the_text(author, monkeypatch):
    asked = []
    ask = type(author)._ask_plan

    def listen(self, request, lines):
        made = ask(self, request, lines)
        asked.append(made.context.text)
        return made

    monkeypatch.setattr(type(author), "_ask_plan", listen)
    write(
        author, make_request("a", text="The sailor slept. Winter came."), make_request("b", text="")
    )
    assert asked == ["Plot: sailor # winter #", "Plot:"]


def plan_with(author, monkeypatch, line, **other):
    """Let it plan as if the model had written this line."""
    request = make_request("r", text="", **other)

    def speak(self, requests):
        for each in requests:
            for piece in line.split("|"):
                if each.is_cancelled():
                    yield Piece(each.id, "", "cancelled")
                    break
                yield Piece(each.id, piece)
            else:
                yield Piece(each.id, "", "done")

    monkeypatch.setattr(type(author).__mro__[1], "generate", speak)
    return author._plan([request])[0]


def test_a_plan_ends_with_its_line(author, monkeypatch):
    assert plan_with(author, monkeypatch, " ferry # sto|rm # rope|\n\nOnce| # upon") == [
        "ferry", "storm", "rope",
    ]  # fmt: skip
    assert plan_with(author, monkeypatch, " ferry # ferry # |# !") == ["ferry", "ferry"]


def test_who_does_not_want_the_plan_gets_no_story(author, monkeypatch):
    end = plan_with(author, monkeypatch, " ferry|\n", is_cancelled=lambda: True)
    assert isinstance(end, Piece) and end.status == "cancelled" and end.text == ""


def test_without_a_word_to_plan_it_writes_as_a_plain_author(author, monkeypatch):
    monkeypatch.setattr(type(author), "_plan", lambda self, requests: [[] for _ in requests])
    one = write(author, make_request())["r"]
    assert one.status == "done" and not find_plan(one)


def test_the_room_of_a_plan_is_kept_free(author):
    request = make_request(text="They went home, and the dog ran away from the mat. " * 90)
    author._plans["r"] = ["winter"] * 20
    try:
        prompt = author._make_prompt(request)
    finally:
        author._plans.clear()
    assert len(prompt.ids) <= author._places(author.checkpoint) - 30


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ('{"recipe": {"plan": false}}', r"has not learned to plan.*--plan"),
        ("[1]", "has not learned to plan"),
        ('{"recipe": 3', "is no JSON"),
    ],
    ids=["unplanned", "list", "cut off"],
)
def test_weights_that_have_not_learned_to_plan_are_refused(folder, tmp_path, record, said):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "training.json").write_text(record, encoding="utf-8")
    with pytest.raises(UserError, match=said):
        load_author(f"plan_and_write({str(copy)!r})").startup()


def test_its_signature_says_that_it_plans(author):
    assert author.signature.endswith(",plan=1")


def test_a_title_alone_is_enough(author):
    context = prompt_context("The old sailor", story="s")
    one = write(author, replace(make_request(), context=context))["r"]
    assert one.status == "done" and one.text


def test_a_try_says_what_was_planned(folder):
    words = [
        "author",
        "try",
        f"plan_and_write({str(folder)!r}, device='cpu')",
        "--prompt",
        "A sea.",
    ]
    words += ["--wanted", "words=-5"]
    done = CliRunner().invoke(cli, [*words, "--plan", "ferry, storm"], catch_exceptions=False)
    assert done.stderr.endswith("(plan: ferry, storm)\n") and done.stdout.strip()
