"""What `--help` says: every option of every command, in words that a stranger understands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.datasets import datasets_below, printed_below
from fabula.scoring.catalogue import SETS

PAGES = Path(__file__).resolve().parents[2] / "docs" / "commands"
# What an option takes; a choice shows its values instead.
TAKEN = {
    "FILE", "FOLDER", "PATH", "NAME", "NAMES", "NAME|FOLDER", "NAMES|FILE", "PATTERN", "ROLE=NAME",
    "SPEC", "SPECS", "SOURCE", "MODEL", "TEXT", "SIGN", "NAME|NUMBER", "URL", "HOST",
    "N", "N N", "N,N,…", "N|all", "N|N%", "N|NAMES", "X", "X X X", "X|Xsd", "DAY", "DAY DAY",
    "CONDITION",
}  # fmt: skip


def walk(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from walk(found, f"{name} {inner}")


COMMANDS = dict(walk(cli, "fabula"))
OPTIONS = {
    f"{name} {option.opts[-1]}": option
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option)
}


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_says_in_a_sentence_what_it_does(name):
    words = OPTIONS[name].help or ""
    assert words.endswith("."), words
    assert len(words.split()) >= 3 and len(words) >= 15, words
    assert "[default" not in words, "click says what the default is"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_in_a_sentence_what_it_does(name):
    words = (COMMANDS[name].help or "").strip().splitlines()[0]
    assert words.endswith(".") and len(words.split()) >= 3, words


def test_what_options_take_is_called_by_the_same_words_everywhere():
    for name, option in OPTIONS.items():
        if not option.is_flag and not isinstance(option.type, click.Choice):
            assert option.metavar in TAKEN, name


def test_one_word_for_one_thing():
    spelled: dict[str, set[tuple[str, ...]]] = {}
    for option in OPTIONS.values():
        spelled.setdefault(option.opts[-1], set()).add(tuple(option.opts))
    assert spelled["--output"] == {("-o", "--output")}
    assert spelled["--metrics"] == {("-m", "--metrics")}
    assert spelled["--quiet"] == {("-q", "--quiet")}
    assert spelled["--format"] == {("-f", "--format")}
    assert "--out" not in spelled
    assert spelled["--column"] == {("-c", "--column")}
    columns = [option for name, option in OPTIONS.items() if name.endswith(" --column")]
    assert {option.metavar for option in columns} == {"ROLE=NAME"}


@pytest.mark.parametrize("word", ["--data", "--quiet", "--jobs", "--no-cache", "--partial"])
def test_an_option_of_several_commands_means_the_same_in_all(word):
    # A co-author learns from stories of any kind: what it takes, other trainings cannot.
    others = {
        name: option for name, option in OPTIONS.items() if name != "fabula train author --data"
    }
    assert len({option.help for name, option in others.items() if name.endswith(f" {word}")}) == 1


@pytest.mark.parametrize("command", ["score", "stress"])
def test_the_help_of_commands_with_metrics_names_every_set(command):
    words = CliRunner().invoke(cli, [command, "--help"]).output
    for name in SETS:
        assert re.search(rf"\b{name}\b", words), name


def test_an_old_script_may_still_say_out(tmp_path):
    for word in ("-o", "--output", "--out"):
        words = ["train", "s3", "no_such_set", word, str(tmp_path / "s3.json")]
        result = CliRunner().invoke(cli, words)
        assert "no_such_set: no such file or data set" in str(result.exception)
    assert "--out " not in CliRunner().invoke(cli, ["train", "s3", "--help"]).output


def pages() -> dict[str, click.Command]:
    context = click.Context(cli)
    return {name: COMMANDS[f"fabula {name}"] for name in cli.list_commands(context)}


def test_every_command_has_a_page_and_stands_in_the_index():
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    written = {path.stem for path in PAGES.glob("*.md")} - {"index"}
    assert written == set(pages())
    for name in pages():
        assert index.count(f"({name}.md)") == 1, name


@pytest.mark.parametrize("name", pages())
def test_the_page_of_a_command_names_all_its_options_and_subcommands(name):
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    for path, command in COMMANDS.items():
        if path.split()[1:2] == [name]:
            assert path.split()[-1] in page
            for option in command.params:
                if isinstance(option, click.Option) and not option.hidden:
                    spelled = [*option.opts, *option.secondary_opts]
                    assert any(re.search(rf"{word}(?![-\w])", page) for word in spelled), (
                        f"{path} {spelled}"
                    )


def test_data_means_the_same_whether_data_sets_lie_in_the_folder_or_in_data(tmp_path):
    shared = tmp_path / "shared"
    (shared / "data" / "hanna").mkdir(parents=True)
    (shared / "reference").mkdir()
    (shared / "reference" / "printed.json").touch()
    for data in (shared, shared / "data"):
        assert datasets_below(data) == shared / "data"
        assert printed_below(data, "reference/printed.json").is_file()


def test_the_list_of_commands_says_everything_in_whole_sentences():
    groups = ([], ["data"], ["metrics"], ["models"], ["train"], ["study"], ["comments"])
    for words in (
        *groups,
        ["studio"],
        ["studio", "user"],
        ["studio", "game"],
        ["studio", "machine"],
    ):
        output = CliRunner().invoke(cli, [*words, "--help"], terminal_width=80).output
        listed = output.partition("Commands:\n")[2].partition("\n\n")[0]
        assert listed and "..." not in listed, listed
