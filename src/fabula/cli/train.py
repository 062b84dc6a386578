"""`fabula train`: weights of our own, from stories of yours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo, silence
from fabula.cli._inputs import OutputPath, dataset_arguments
from fabula.cli._options import DATA, seed_option
from fabula.cli._train_author import AUTHOR_HELP, AUTHOR_OPTIONS, author_command
from fabula.cli._train_criteria import CRITERIA_HELP, CRITERIA_OPTIONS, criteria_command
from fabula.cli._train_evaluate import EVALUATE_HELP, EVALUATE_OPTIONS, measure_weights
from fabula.cli._train_grounder import GROUNDER_HELP, GROUNDER_OPTIONS, grounder_command
from fabula.cli._train_options import (
    ASPECT,
    DEVICE,
    FOLDS,
    GRID,
    PERSONAL_OPTIONS,
    PREPARED,
    RECIPE,
    RESUME,
    SEED,
    SEEDS,
    START,
    STEPS,
    TOKENS,
)
from fabula.cli._train_probes import train_other
from fabula.core.errors import SettingError
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.learned.training.grid import Trial
    from fabula.learned.training.personal import Personal
    from fabula.learned.training.reader import ExampleSource
    from fabula.scoring.sources import DatasetSource

Report = Callable[[str], None]
READERS = {
    "storyer": "Learn preference, HANNA's criteria and StoryER's aspects.",
    "coherence": "Learn to judge coherence, with UNION's and MANPLTS's heads.",
    "rovist_c": "Learn which of two neighbouring sentences comes first.",
    "union": "Learn to tell people's stories from corrupted ones.",
    "manplts": "Learn to tell people's stories from manipulated plots.",
}
# Which metric reads a scale; of `criteria.relevance` the first word counts.
READ_BY = {
    "preference": "storyer", "coherence": "coherence", "order": "rovist_c", "union": "union",
    "manplts": "manplts", "criteria": "criteria", "aspects": "aspects", "writers": "writers",
}  # fmt: skip
FIGURES = {"accuracy": "accuracy", "spearman": "Spearman's ρ"}
_PERSONAL = (
    "With --ratings nothing is trained but the weight of what a reader says: that of the asset, or "
    "the one in the folder --start."
)


class _OutputOption(click.Option):
    """`-o/--output`, which old scripts may still spell `--out`; needless if nothing is trained."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        super().add_to_parser(parser, ctx)
        parser.add_option(obj=self, opts=["--out"], dest=self.name, action="store", nargs=1)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Ask for no folder where nothing is trained."""
        is_trained = not ctx.params.get("evaluated") and ctx.params.get("only") != "examples"
        is_needless = self.value_is_missing(value) and not is_trained
        return None if is_needless else super().process_value(ctx, value)


_option_for_output = partial(
    click.option, "-o", "--output", "out", cls=_OutputOption, required=True
)
OUTPUT = _option_for_output(
    type=OutputPath(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder for the weights and training.json.",
)
QUIET = click.option(
    "-q", "--quiet", "report", is_flag=True,
    callback=lambda *given: _report_unless(silence(*given)),
    help="Write no progress and no remarks.",
)  # fmt: skip
READER_OPTIONS = (
    DATA, OUTPUT, RECIPE, PREPARED, START, SEED, FOLDS, SEEDS, GRID, DEVICE, RESUME, QUIET,
)  # fmt: skip


@click.group("train")
def command() -> None:
    """Train the weights that learned metrics need."""


def reader_command(
    kind: str,
    *,
    data: Path | None,
    out: Path,
    recipe: Path | None,
    prepared: Path | None,
    start: Path | None,
    seed: int | None,
    folds: int | None,
    seeds: int,
    grid: Path | None,
    device: str,
    resume: bool,
    report: Report,
    ratings: Path | None = None,
    gold: str | None = None,
    columns: Mapping[str, str] | None = None,
    aspect: str = "",
) -> None:
    """Train a reader by its recipe, or all settings of a grid; say what was measured."""
    from fabula.learned.training.reader import ExampleSource, train_reader
    from fabula.learned.training.recipe import ReaderRecipe, find_recipe, is_reader, read_recipe

    own: Any = {"prepared": prepared, "start": start, "folds": folds, "grid": grid, "seed": seed}
    if ratings or gold or columns or aspect:
        own |= {"out": out, "recipe": recipe, "resume": resume}
        return _personalise(ratings, gold, columns, aspect, **own)
    recipe = recipe or find_recipe(kind)
    own |= {"seeds": seeds, "device": device, "resume": resume, "report": report}
    if not is_reader(recipe):
        return train_other(recipe, data, out, **own)
    source = ExampleSource(data=data, prepared=prepared, start=start, report=report)
    how: Any = {"out": out, "device": device, "folds": folds or 0, "seeds": seeds}
    how |= {"resume": resume, "report": report}
    if grid:
        return _try_readers(kind, recipe, grid, source, seed=seed, **how)
    record = train_reader(read_recipe(ReaderRecipe, recipe, seed=seed), source, **how)
    return _say_measured(kind, record, out)


def _add_readers() -> None:
    """Add a command for every kind of reader; they differ in their recipes alone."""
    for kind, about in READERS.items():
        text = f"{about}\n\nThe recipe that is built in is recipes/{kind}.toml."
        if kind == "storyer":
            options = (*READER_OPTIONS, *PERSONAL_OPTIONS, *EVALUATE_OPTIONS)
            _add(kind, partial(storyer_command), options, f"{text} {_PERSONAL}\n\n{EVALUATE_HELP}")
        else:
            _add(kind, partial(reader_command, kind), READER_OPTIONS, text)


def storyer_command(
    *, evaluated: tuple[str, ...], on: tuple[str, ...], by: str, comments: int, form: str,
    **options: Any,
) -> None:  # fmt: skip
    """Train StoryER's reader, or measure weights that are there."""
    if not evaluated and not on:
        return reader_command("storyer", **options)
    return measure_weights(evaluated, on, by=by, comments=comments, form=form, **options)


def _add(name: str, run: Callable[..., Any], options: Sequence[Any], text: str) -> None:
    for option in reversed(options):
        run = option(run)
    command.add_command(click.command(name, help=text)(run))


_add_readers()
_add("criteria", partial(criteria_command), (*CRITERIA_OPTIONS, OUTPUT, QUIET), CRITERIA_HELP)
_add("author", partial(author_command), (OUTPUT, *AUTHOR_OPTIONS, QUIET), AUTHOR_HELP)
_add("rovist_vg", partial(grounder_command), (OUTPUT, *GROUNDER_OPTIONS, QUIET), GROUNDER_HELP)


@command.command("encoder")
@DATA
@OUTPUT
@TOKENS
@RECIPE
@START
@STEPS
@SEED
@DEVICE
@RESUME
@QUIET
def encoder_command(
    data: Path | None,
    out: Path,
    tokens: Path | None,
    recipe: Path | None,
    start: Path | None,
    steps: int | None,
    seed: int | None,
    device: str,
    resume: bool,
    report: Report,
) -> None:
    """Warm an encoder up on stories, by guessing hidden words.

    Leaves the weights that guess held-out stories best, with tokeniser and training.json.
    """
    from fabula.learned.training.corpus import read_corpus
    from fabula.learned.training.encoder import EncoderRecipe, train_encoder
    from fabula.learned.training.recipe import read_recipe
    from fabula.models import path_of

    chosen = read_recipe(EncoderRecipe, recipe or {}, steps=steps, seed=seed)
    start = start or path_of("minilm")
    corpus = read_corpus(chosen, start, data=data, tokens=tokens)
    for source, counts in corpus.counts.items():
        report(f"{source}: " + ", ".join(f"{count:,} {fate}" for fate, count in counts.items()))
    train_encoder(chosen, corpus, start=start, out=out, device=device, resume=resume, report=report)
    echo(out)


@command.command("ruber")
@DATA
@OUTPUT
@RECIPE
@SEED
@GRID
@RESUME
@QUIET
def ruber_command(
    data: Path | None,
    out: Path,
    recipe: Path | None,
    seed: int | None,
    grid: Path | None,
    resume: bool,
    report: Report,
) -> None:
    """Learn which story was written on a prompt.

    The recipe that is built in is recipes/ruber.toml. What is measured is on prompts that were
    held out.
    """
    from fabula.learned.training import ruber
    from fabula.learned.training.recipe import find_recipe, read_recipe

    recipe = recipe or find_recipe("ruber")
    if grid:
        from fabula.learned.training.grid import try_rubers

        trials = try_rubers(recipe, grid, data, out=out, seed=seed, resume=resume, report=report)
        _say_trials(trials)
        out = trials[0].folder
    else:
        chosen = read_recipe(ruber.RuberRecipe, recipe, seed=seed)
        test = ruber.train_on_data(chosen, data, out=out, resume=resume, report=report)["test"]
        said = f"{test['accuracy']:.3f} ± {test['error']:.3f}, n = {test['prompts']:,.0f} prompts"
        _say(f"its own prompt rather than another, of held-out stories: {said}")
    echo(f"ruber(weights={str(out)!r})")


@command.command("s3")
@dataset_arguments
@ASPECT
@_option_for_output(
    type=OutputPath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="JSON file for the regressor.",
)
@seed_option()
def s3_command(source: DatasetSource, aspect: str, out: Path, seed: int) -> None:
    """Fit the regressor of the metric s3 to people's ratings.

    SOURCE is a table with stories, references and ratings, or a data set's name. The agreement that
    is printed is with ratings of items that a regressor has not seen.
    """
    from fabula.core.files import refuse_input
    from fabula.scoring.s3_training import fit_rated

    refuse_input(out, source.inputs())
    fitted = fit_rated(source.load(), aspect, seed=seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    fitted.regressor.save(out)
    vectors = count_text(len(fitted.regressor.support), "support vector")
    _say(f"{count_text(fitted.stories, 'story', 'stories')}, {vectors}")
    if fitted.unseen:
        said = f"r = {fitted.unseen.r:.3f}, ρ = {fitted.unseen.rho:.3f}"
        _say(f"with the ratings of unseen items: {said}, n = {fitted.unseen.n:,}")
    echo(f"s3(regressor={str(out)!r})")


def _try_readers(kind: str, recipe: Path, grid: Path, source: ExampleSource, **how: Any) -> None:
    from fabula.learned.training.grid import try_readers

    trials = try_readers(recipe, grid, source, **how)
    _say_trials(trials)
    echo(_specs(kind, trials[0].record, trials[0].folder)[0])


def _personalise(
    ratings: Path | None,
    gold: str | None,
    columns: Mapping[str, str] | None,
    aspect: str,
    *,
    out: Path,
    start: Path | None,
    seed: int | None,
    **others: object,
) -> None:
    """Fit a reader's preference to ratings of one's own."""
    from fabula.learned.training.own_opinions import read_own_opinions
    from fabula.learned.training.personal import FEW, personalise
    from fabula.scoring.sources import split_names

    if ratings is None:
        raise SettingError("--gold, --column and --aspect are for --ratings", "leave them out")
    _refuse("--ratings", **others)
    names = split_names(gold or "")
    opinions = read_own_opinions(ratings, gold=names, columns=columns, aspect=aspect)
    if (count := len(opinions.items)) < FEW:
        _say(f"{count} opinions are few: from {FEW} on the figures mean more")
    personal = personalise(opinions, out=out, reader=str(start or "reader"), seed=seed or 0)
    _say_personal(personal)
    echo(f"storyer(weights={str(out)!r})")


def _say_measured(kind: str, record: Mapping[str, Any], out: Path) -> None:
    """Say what unseen stories showed, or held-out ones, and the specs that load the weights."""
    if unseen := record["unseen"]:
        times = f"{record['folds']} folds, {count_text(record['seeds'], 'seed')}"
        _say(f"of stories whose items the reader had not learned from ({times}):")
        _say_rows([_figure_row(name, figure) for name, figure in unseen.items()])
    for scale, figures in list(record["scales"].items())[:1]:
        _say("the value that the metric gives, of the same stories (training.json has all):")
        _say_rows([_figure_row(f"{scale} with {name}", one) for name, one in figures.items()])
    if history := record["history"]:
        best = max(history, key=lambda row: float(row["mean"]))
        said = ", ".join(f"{name} {value:.3f}" for name, value in best["held_out"].items())
        _say(f"held out, at step {best['step']:,}: {said}")
    elif not unseen:
        _say("nothing was measured: say --folds 5, or held_out in the recipe")
    first, *others = _specs(kind, record, out)
    if others:
        _say(f"also: {', '.join(others)}")
    echo(first)


def _specs(kind: str, record: Mapping[str, Any], out: Path) -> list[str]:
    """Give the specs of all metrics that weights serve, the one they were trained for first."""
    order = list(READ_BY.values())
    served = {READ_BY.get(name.partition(".")[0], "") for name in record["recipe"]["scales"]} - {""}
    ordered = sorted(served, key=lambda name: (name != kind, order.index(name)))
    return [f"{name}(weights={str(out)!r})" for name in ordered] or [str(out)]


def _figure_row(name: str, figure: Mapping[str, Any]) -> list[str]:
    value = "undefined" if figure["value"] is None else f"{figure['value']:.3f}"
    return [name, FIGURES[figure["figure"]], value, f"n = {figure['n']:,}"]


def _say_trials(trials: Sequence[Trial]) -> None:
    from fabula.learned.training.grid import describe

    _say("mean figure, the best first:")
    figures = ["undefined" if isnan(trial.figure) else f"{trial.figure:.3f}" for trial in trials]
    settings = [describe(trial.settings) for trial in trials]
    folders = [trial.folder.name for trial in trials]
    _say_rows(list(zip(folders, figures, settings, strict=True)))


def _say_personal(personal: Personal) -> None:
    """Say how a reader agreed before it was made personal, and how it does now."""
    kind = "pair" if personal.figure == "accuracy" else "rating"
    count, items = count_text(personal.opinions, kind), count_text(personal.items, "item")
    _say(f"{count} on {items}; {FIGURES[personal.figure]} on items left out:")
    figures = {"before": personal.before, "after": personal.after, "gain": personal.gain}
    _say_rows([(k, f"{e.value:.3f} [{e.low:.3f}, {e.high:.3f}]") for k, e in figures.items()])
    if personal.gain.high < 0:
        _say("it agrees less with you than before: stay with the reader, or rate more stories")
    elif not personal.gain.low > 0:
        _say("the gain may be chance: more ratings would tell")
    _say(f"percentiles are among {personal.among}")


def _say_rows(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        words = (word.ljust(width) for word, width in zip(row, widths, strict=True))
        _say(f"  {'  '.join(words)}".rstrip())


def _say(line: str) -> None:
    echo(line, err=True)


def _refuse(where: str, **options: object) -> None:
    """Refuse options that are not for a way to train."""
    for name, value in options.items():
        if value:
            raise SettingError(f"--{name} is not for {where}", "leave it out")


def _report_unless(quiet: bool) -> Report:
    return lambda line: None if quiet else _say(line)
