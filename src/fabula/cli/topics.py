"""`fabula topics`: what stories are about, their worlds, and what follows what."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_sources
from fabula.cli._inputs import story_layout
from fabula.cli._options import PAPER_FORMAT, QUIET, output_option, resamples_option, seed_option
from fabula.core.errors import SettingError

if TYPE_CHECKING:
    from fabula.datasets.tables.stories import StoryLayout
    from fabula.learned.topics.analysis import TopicAnalysis
    from fabula.learned.topics.corpus import Corpus
    from fabula.learned.topics.dictionary import TopicRecipe
    from fabula.learned.topics.finding import Naming, TopicSet
    from fabula.learned.topics.passages import Passage


@dataclass(frozen=True)
class _Settings:
    """How topics are found and named."""

    topics: int
    recipe: str
    vectors: str
    seeds: int
    seed: int
    words: Naming
    least: int
    letters: int
    lemmas: bool
    lda: bool
    leave_out: tuple[int, ...]
    resamples: int


def _gather_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give the command its settings as one value."""

    @functools.wraps(command)
    def gather(**options: Any) -> None:
        settings = _Settings(**{field.name: options.pop(field.name) for field in fields(_Settings)})
        command(settings=settings, **options)

    return gather


def _read_numbers(_context: click.Context, option: click.Parameter, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        problem = f"--leave-out {text!r} does not name topics"
        raise SettingError(problem, "write their numbers, such as 3,17") from None


@click.command("topics", short_help="Find what stories are about, and what follows what.")
@click.argument("source", shell_complete=complete_sources)
@click.option(
    "--topics",
    type=click.IntRange(2, 1000),
    metavar="N",
    default=50,
    show_default=True,
    help="How many topics to find.",
)
@click.option(
    "--unit",
    type=click.Choice(["story", "paragraph", "sentence"]),
    default="story",
    show_default=True,
    help="What has a topic; of parts of stories it is also said which topic follows which.",
)
@click.option(
    "--games", is_flag=True, help="SOURCE is a game exported from STORIUM, or a folder of games."
)
@click.option(
    "--world",
    type=click.Choice(["system", "item", "prompt"]),
    default="system",
    show_default=True,
    help="Field of stories that says which world they are of; a game has its own.",
)
@click.option(
    "--recipe",
    type=click.Choice(["fabula", "paper", "code"]),
    default="fabula",
    show_default=True,
    help="How topics are learned: our way, as STORIUM's paper says, or as its code does.",
)
@click.option(
    "--vectors",
    metavar="SPEC",
    default="glove_50d",
    show_default=True,
    help="Word vectors: a model's spec, or word_vectors('PATH') for a file of GloVe's.",
)
@click.option(
    "--words",
    type=click.Choice(["passages", "cosine", "softmax"]),
    default="passages",
    show_default=True,
    help="What names a topic: words that its passages hold, the nearest vectors, or the words "
    "that score highest.",
)
@click.option(
    "--least",
    type=click.IntRange(0),
    metavar="N",
    default=0,
    show_default="30, fewer where there are few passages",
    help="How often a word must come to name a topic.",
)
@click.option(
    "--letters",
    type=click.IntRange(1),
    metavar="N",
    default=3,
    show_default=True,
    help="Least letters of a word; STORIUM's authors took 5.",
)
@click.option(
    "--lemmas/--no-lemmas",
    default=True,
    show_default=True,
    help="Count the forms of a word as one, by WordNet.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    metavar="N",
    default=3,
    show_default=True,
    help="From how many seeds topics are found; more than one says how stable they are.",
)
@click.option("--lda", is_flag=True, help="Fit latent Dirichlet allocation beside it.")
@click.option(
    "--leave-out",
    metavar="N,N,…",
    default="",
    callback=_read_numbers,
    help="Numbers of topics that say nothing, for worlds and transitions.",
)
@resamples_option()
@seed_option()
@output_option(
    metavar="FOLDER", help="Write a page with figures, tables and every passage's topic here."
)
@click.option("--overwrite", is_flag=True, help="Write over an earlier page in the folder.")
@story_layout
@PAPER_FORMAT
@QUIET
@_gather_settings
def command(
    source: str,
    *,
    layout: StoryLayout,
    settings: _Settings,
    unit: str,
    games: bool,
    world: str,
    output: Path | None,
    overwrite: bool,
    form: str,
    quiet: bool,
) -> None:
    """Find what stories are about, which worlds have which topics, and what follows what.

    SOURCE is what `fabula score` takes: a file, a folder, a data set's name or - for stdin; with
    --games it holds games exported from STORIUM. A topic is a direction of word vectors, learned
    so that passages are made of few of them; a world is a game's, or the field named by --world.
    """
    from fabula.core.files import refuse_foreign
    from fabula.reports.study_page import STUDY_PAGE
    from fabula.reports.topics import render_topics, write_topics

    passages, inputs = _read_passages(source, layout, unit, world, games)
    if output:
        refuse_foreign(output, [STUDY_PAGE], inputs=inputs, overwrite=overwrite)
    found = _find(passages, settings)
    echo(render_topics(form, found))
    if output:
        facts = {"passages": len(found.corpus.passages), "topics": settings.topics}
        facts |= {"seeds": settings.seeds, "seed": settings.seed}
        title = f"Topics of {Path(source).name}"
        page = write_topics(
            found, output, title=title, facts=facts, inputs=inputs, overwrite=overwrite
        )
        if not quiet:
            echo(f"page, tables and figures: {page}", err=True)


def _read_passages(
    source: str, layout: StoryLayout, unit: str, world: str, games: bool
) -> tuple[list[Passage], list[Path]]:
    """Read passages, and name the files that they come from."""
    from fabula.datasets.storium import find_games
    from fabula.datasets.tables.stories import open_stories
    from fabula.learned.topics.passages import read_games, split_stories

    if games:
        if (unit, world) != ("story", "system"):
            problem = "--unit and --world are for stories: a game has entries, and its own world"
            raise SettingError(problem, "leave them out")
        path = find_games(source)
        inside = [path] if path.is_file() else sorted(path.rglob("*.json*"))
        return read_games(path), inside
    with open_stories(source, layout) as file:
        passages = split_stories(file, unit=unit, world=world)  # type: ignore[arg-type]
        return passages, file.inputs()


def _find(passages: list[Passage], settings: _Settings) -> TopicAnalysis:
    from fabula.core.model import WordVectors
    from fabula.learned.topics.analysis import analyse_topics, check_left_out
    from fabula.learned.topics.corpus import WordRules, gather_words
    from fabula.learned.topics.dictionary import RECIPES
    from fabula.learned.topics.finding import embed_passages, find_dictionary
    from fabula.models import load_model, need

    left_out = [number - 1 for number in settings.leave_out]
    check_left_out(left_out, settings.topics)
    rules = WordRules(settings.letters, settings.least, lemmas=settings.lemmas)
    vectors = need(load_model(settings.vectors), WordVectors)
    corpus, means, rows = embed_passages(gather_words(passages, rules), vectors)
    recipe = replace(RECIPES[settings.recipe], topics=settings.topics, seed=settings.seed)
    sets = [
        find_dictionary(
            corpus, means, rows, recipe=recipe, runs=settings.seeds, naming=settings.words
        )
    ]
    if settings.lda:
        sets.append(_fit_lda(corpus, recipe, settings.seeds))
    return analyse_topics(
        corpus, sets, left_out=left_out, resamples=settings.resamples, seed=settings.seed
    )


def _fit_lda(corpus: Corpus, recipe: TopicRecipe, seeds: int) -> TopicSet:
    from fabula.learned.topics.finding import find_lda

    return find_lda(corpus, recipe.topics, seed=recipe.seed, runs=seeds)
