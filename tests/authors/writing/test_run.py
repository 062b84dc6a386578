"""Runs of co-authors over prompts: resumable, the same again, and never lost."""

from __future__ import annotations

import json

import pytest

from fabula.authors import load_author
from fabula.authors.writing.prompts import Prompt
from fabula.authors.writing.run import (
    NamedAuthor,
    WritingPlan,
    draw_seed,
    parse_authors,
    parse_decoding,
    write_stories,
)
from fabula.core.author import Decoding, Piece, Wanted
from fabula.core.errors import Conflict, InputError, SettingError, UserError

PROMPTS = [Prompt(str(n), f"Prompt {n}.", (f"What people wrote on {n}.",)) for n in range(5)]
PLAN = WritingPlan(parse_authors(["lorem,short=lorem(words=4)"]), Wanted("words", 0, 29), batch=2)


def rows_of(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_co_author_writes_on_every_prompt_and_says_how(tmp_path):
    out = tmp_path / "new" / "stories.jsonl"
    written = write_stories(PROMPTS, PLAN, out)
    rows = rows_of(out)
    assert (written.stories, written.failed, written.new) == (10, 0, 10)
    assert [row["id"] for row in rows[:2]] == ["lorem/0/1", "lorem/1/1"]
    assert {row["system"] for row in rows} == {"lorem", "short"}
    row = rows[0]
    assert row["text"] and row["text"].endswith(".") and len(row["text"].split()) <= 30
    assert row["references"] == ["What people wrote on 0."]
    assert row["signature"] == load_author("lorem").signature
    assert row["wanted"] == "words=0-29" and row["decoding"]["max_sentences"] == 0
    # Co-authors differ by what they are, not by chance.
    assert [r["seed"] for r in rows[:5]] == [r["seed"] for r in rows[5:]]
    assert len({r["seed"] for r in rows[:5]}) == 5


def test_several_stories_on_a_prompt_have_seeds_of_their_own(tmp_path):
    plan = WritingPlan((NamedAuthor("lorem", "lorem"),), number=3)
    write_stories(PROMPTS[:1], plan, tmp_path / "s.jsonl")
    rows = rows_of(tmp_path / "s.jsonl")
    assert [row["number"] for row in rows] == [1, 2, 3]
    assert len({row["text"] for row in rows}) == 3
    assert rows[1]["seed"] == draw_seed(0, "0", 2) != draw_seed(1, "0", 2)


class Killed:
    """A co-author that is stopped after some batches, as a process is by a kill."""

    def __init__(self, spec: str, after: int) -> None:
        self._author, self.left = load_author(spec), after

    def __getattr__(self, name):
        return getattr(self._author, name)

    def generate(self, requests):
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return self._author.generate(requests)


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("torn", ["", '{"id": "lorem/4/1", "te'])
def test_a_run_that_was_killed_goes_on_to_the_same_file(tmp_path, after, torn):
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    write_stories(PROMPTS, PLAN, whole)
    with pytest.raises(KeyboardInterrupt):
        write_stories(PROMPTS, PLAN, broken, load=lambda spec: Killed(spec, after))
    assert len(rows_of(broken) if broken.exists() else []) == 2 * after
    with broken.open("a", encoding="utf-8") as file:
        file.write(torn)
    written = write_stories(PROMPTS, PLAN, broken)
    assert written.new == 10 - 2 * after
    assert broken.read_bytes() == whole.read_bytes()
    assert write_stories(PROMPTS, PLAN, broken).new == 0
    assert [path.name for path in tmp_path.iterdir()] in (
        ["whole.jsonl", "broken.jsonl"],
        ["broken.jsonl", "whole.jsonl"],
    )


def test_prompts_of_any_letters_come_back_as_they_were(tmp_path):
    odd = "Half a letter \ud800, a line\u2028 within\r\n, 猫 and \0."
    out = tmp_path / "s.jsonl"
    write_stories([Prompt("ö\u2028", odd, (odd,))], PLAN, out)
    assert [row["prompt"] for row in rows_of_lines(out)] == [odd, odd]
    assert write_stories([Prompt("ö\u2028", odd, (odd,))], PLAN, out).new == 0


def rows_of_lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot be written"):
        write_stories(PROMPTS, PLAN, tmp_path / "file" / "s.jsonl")


def test_the_size_of_batches_changes_no_story(tmp_path):
    for size in (1, 3, 100):
        plan = WritingPlan(PLAN.authors, PLAN.wanted, batch=size)
        write_stories(PROMPTS, plan, tmp_path / f"{size}.jsonl")
    assert len({path.read_bytes() for path in tmp_path.glob("*.jsonl")}) == 1


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (WritingPlan(PLAN.authors, Wanted("words", 0, 30)), "another wanted"),
        (WritingPlan(PLAN.authors, PLAN.wanted, Decoding(temperature=0.1)), "another decoding"),
        (WritingPlan(PLAN.authors, PLAN.wanted, seed=1), "another seed"),
        (WritingPlan(parse_authors(["lorem,short=lorem(words=5)"]), PLAN.wanted), "another author"),
        (WritingPlan(PLAN.authors[:1], PLAN.wanted), "of short on item '0', which is not asked"),
    ],
)
def test_a_file_of_other_settings_is_not_gone_on_with(tmp_path, plan, said):
    out = tmp_path / "s.jsonl"
    write_stories(PROMPTS[:1], PLAN, out)
    before = out.read_bytes()
    with pytest.raises(Conflict, match=said):
        write_stories(PROMPTS[:1], plan, out)
    assert out.read_bytes() == before
    assert write_stories(PROMPTS[:1], plan, out, overwrite=True).new == len(plan.authors)


def test_more_prompts_and_more_stories_can_be_asked_for_later(tmp_path):
    once, later = tmp_path / "once.jsonl", tmp_path / "later.jsonl"
    more = WritingPlan(PLAN.authors, PLAN.wanted, number=2)
    write_stories(PROMPTS, more, once)
    write_stories(PROMPTS[:2], PLAN, later)
    assert write_stories(PROMPTS, more, later).new == 16
    assert later.read_bytes() == once.read_bytes()


def test_one_that_fails_is_a_row_that_says_why_and_can_be_tried_again(tmp_path):
    out = tmp_path / "s.jsonl"
    plan = WritingPlan(parse_authors(["bad=lorem(fail=0.5)"]), PLAN.wanted, number=4)
    written = write_stories(PROMPTS, plan, out)
    failed = [row for row in rows_of(out) if row["status"] == "failed"]
    assert 0 < written.failed == len(failed) < 20 == written.stories
    assert all(row["text"] == "" and "told to fail" in row["problem"] for row in failed)
    assert write_stories(PROMPTS, plan, out).new == 0
    assert write_stories(PROMPTS, plan, out, retry=True).new == len(failed)


class Broken:
    """A co-author that breaks its word in several ways."""

    signature = "broken"

    def startup(self):
        pass

    shutdown = startup

    def preprocess(self, context):
        if "1" in context.story[:1]:
            raise UserError("no room for this prompt", "shorten it")

    def generate(self, requests):
        for request in requests:
            yield Piece(request.id, "Half a ")
        yield Piece(requests[0].id, "A whole one.", "done", replaces=True)
        raise UserError("the server went away")


def test_what_breaks_in_the_middle_costs_its_own_stories_alone(tmp_path):
    plan = WritingPlan((NamedAuthor("lorem", "broken"),), batch=10)
    write_stories(PROMPTS[:3], plan, tmp_path / "s.jsonl", load=lambda spec: Broken())
    first, second, third = rows_of(tmp_path / "s.jsonl")
    assert (first["status"], first["text"]) == ("done", "A whole one.")
    assert second["status"] == "failed" and "no room for this prompt" in second["problem"]
    assert third["status"] == "failed" and "went away" in third["problem"] and not third["text"]


def test_a_file_of_somebody_else_is_left_alone(tmp_path):
    out = tmp_path / "mine.jsonl"
    for text in ('{"text": "My novel."}\n', "My novel, without an end", "[1]\n"):
        out.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="fabula write"):
            write_stories(PROMPTS, PLAN, out)
        assert out.read_text(encoding="utf-8") == text


def test_two_runs_do_not_write_one_file(tmp_path):
    out = tmp_path / "s.jsonl"

    def load(spec):
        if out.exists():
            return load_author(spec)
        out.touch()
        author = Killed(spec, 9)
        author.startup = lambda: write_stories(PROMPTS, PLAN, out)
        return author

    with pytest.raises(Conflict, match="is being written by process"):
        write_stories(PROMPTS, PLAN, out, load=load)


def test_co_authors_have_names_or_are_called_by_their_specs():
    authors = parse_authors(["lorem( words = 7 ), a=lorem", "b = lorem(words=60)"])
    assert [(author.name, author.spec) for author in authors] == [
        ("lorem(words=7)", "lorem(words=7)"),
        ("a", "lorem"),
        ("b", "lorem"),
    ]
    for words, said in {
        "lorem,lorem": "two co-authors",
        "=lorem": "has no name",
        " ": "no co",
    }.items():
        with pytest.raises(SettingError, match=said):
            parse_authors([words])


def test_decoding_is_told_as_settings_are():
    assert parse_decoding("") == Decoding(max_sentences=0)
    assert parse_decoding("temperature=0.5, top_k=0").temperature == 0.5
    with pytest.raises(SettingError, match="no setting 'top'"):
        parse_decoding("top=3")
    with pytest.raises(UserError):
        parse_decoding("temperature='hot'")
