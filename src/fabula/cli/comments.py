"""`fabula comments`: what readers talk about, and more comments to learn from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_sources
from fabula.cli._inputs import column_option
from fabula.cli._options import FORMAT, file_type, folder_type, output_option, seed_option
from fabula.cli._output import print_rows
from fabula.cli._train_options import DEVICE
from fabula.core.errors import SettingError
from fabula.core.files import refuse_input, write_json
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.learned.training.augmentation import Augmented, Comment, LabelledComment
    from fabula.learned.training.comment_figures import ClassifierFigure

COLUMN = column_option(
    "Column of a table that plays a role: comment=review, text=story; may be repeated.", "comment"
)


@click.group("comments", short_help="Find the topics of comments; guess their aspects.")
def command() -> None:
    """Find the topics of readers' comments; guess their aspects and ratings."""


@command.command("topics", short_help="Find what comments are about.")
@click.argument("source", shell_complete=complete_sources)
@COLUMN
@click.option(
    "--least",
    type=click.IntRange(2),
    metavar="N",
    default=5,
    show_default=True,
    help="Smallest number of topics to try.",
)
@click.option(
    "--most",
    type=click.IntRange(2),
    metavar="N",
    default=15,
    show_default=True,
    help="Largest number of topics to try.",
)
@seed_option()
@FORMAT
def topics_command(
    source: str, columns: dict[str, str], least: int, most: int, seed: int, form: str
) -> None:
    """Find what comments are about, from which aspects can be named by hand.

    SOURCE is a data set with comments (storyer_ratings) or a table of your own. Latent Dirichlet
    allocation (scikit-learn); the number of topics is the one that is most stable from run to run.
    """
    from fabula.learned.topics.comment_topics import find_topics
    from fabula.learned.training.augmentation import read_source

    if most < least:
        raise SettingError(f"--least {least} is above --most {most}", "turn them round")
    comments, _ = read_source(source, columns)
    topics = find_topics(
        [comment.text for comment in comments], counts=range(least, most + 1), seed=seed
    )
    told = zip(topics.words, topics.shares, strict=True)
    print_rows(
        [
            {"topic": number, "share": round(share, 4), "words": list(words)}
            for number, (words, share) in enumerate(told, 1)
        ],
        form,
    )
    stable = topics.scores[topics.count]
    echo(
        f"{topics.count} topics of {count_text(len(comments), 'comment')}; stability {stable:.2f}, "
        f"by chance {topics.chance:.2f}; {count_text(topics.left_out, 'comment')} without a word "
        "that returns",
        err=True,
    )
    if stable <= topics.chance:
        echo("fabula: no more stable than shuffled words: these topics are noise", err=True)


@command.command("evaluate", short_help="Measure classifiers of comments.")
@click.argument("source", default="storyer_ratings", shell_complete=complete_sources)
@click.option(
    "--encoder",
    metavar="MODEL",
    help="Also by classifiers on this encoder: an asset, a folder, or a name of the hub.",
)
@click.option(
    "--recipe",
    type=file_type,
    metavar="FILE",
    show_default="recipes/comments.toml",
    help="How those are trained.",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    metavar="N",
    default=5,
    show_default=True,
    help="Parts that the stories are split into.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    metavar="N",
    default=1,
    show_default=True,
    help="Classifiers on an encoder for each part, whose probabilities are averaged.",
)
@click.option(
    "--weights",
    type=folder_type,
    metavar="FOLDER",
    help="Keep what those say of unseen comments here; a run that was stopped goes on.",
)
@DEVICE
@seed_option()
@FORMAT
def evaluate_command(
    source: str,
    encoder: str | None,
    recipe: Path | None,
    folds: int,
    seeds: int,
    weights: Path | None,
    device: str,
    seed: int,
    form: str,
) -> None:
    """Measure how well the aspect and the rating of comments are told from their words.

    SOURCE is a data set whose comments have aspects and ratings, or a file in the form of
    storyer_ratings. No comment is told by a classifier that has seen one on the same story.
    """
    from fabula.learned.training.augmentation import comments_of
    from fabula.learned.training.comment_figures import classify_by, measure
    from fabula.learned.training.joint_data import read_rated_dataset

    if not encoder and (recipe or weights or device):
        raise SettingError("--recipe, --weights and --device are for --encoder", "leave them out")
    known = comments_of(read_rated_dataset(source, None))
    told = {"words": classify_by(known, folds=folds, seed=seed)}
    if encoder:
        how: Any = {"recipe": recipe, "seeds": seeds, "device": device, "out": weights}
        how |= {"folds": folds, "seed": seed, "report": _report}
        told[encoder] = classify_by(known, encoder=encoder, **how)
    print_rows([_figure_row(figure) for figure in measure(known, told)], form)


def _figure_row(figure: ClassifierFigure) -> dict[str, Any]:
    row: dict[str, Any] = {"told": figure.task, "of": figure.label, "comments": figure.comments}
    for name, accuracy in figure.accuracy.items():
        known = (accuracy.value, accuracy.low, accuracy.high)
        value, low, high = (None if math.isnan(end) else round(end, 3) for end in known)
        row |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return row | {"prior": None if math.isnan(figure.prior) else round(figure.prior, 3)}


def _report(line: str) -> None:
    echo(line, err=True)


@command.command("augment", short_help="Guess aspect and rating of comments without them.")
@click.argument("source", shell_complete=complete_sources)
@COLUMN
@click.option(
    "--learn",
    default="storyer_ratings",
    show_default=True,
    metavar="SOURCE",
    shell_complete=complete_sources,
    help="Data set, or a file in its form, whose comments have aspects and ratings to learn from.",
)
@output_option(metavar="FILE", required=True, help="JSON file for the comments that are kept.")
@click.option(
    "--sure",
    type=click.FloatRange(0, 1),
    metavar="X",
    default=0.9,
    show_default=True,
    help="Keep comments whose aspect is at least this probable.",
)
@click.option(
    "--words",
    nargs=2,
    type=int,
    metavar="N N",
    default=(15, 50),
    show_default=True,
    help="Keep comments of at least and at most so many words.",
)
@click.option(
    "--per-aspect",
    type=click.IntRange(1),
    metavar="N",
    default=2000,
    show_default=True,
    help="Keep at most so many comments on each aspect.",
)
@click.option(
    "--weights",
    type=folder_type,
    metavar="FOLDER",
    help="Guess by classifiers on an encoder, which are in this folder or trained into it.",
)
@click.option(
    "--encoder",
    metavar="MODEL",
    show_default="that of the recipe",
    help="Encoder to train them on: an asset, a folder, or a name of the hub.",
)
@seed_option()
def augment_command(
    source: str,
    columns: dict[str, str],
    learn: str,
    output: Path,
    sure: float,
    words: tuple[int, int],
    per_aspect: int,
    weights: Path | None,
    encoder: str | None,
    seed: int,
) -> None:
    """Guess aspect and rating of comments that have none, for a joint training.

    SOURCE is a table with columns text (the story), comment and, if there is one, prompt. Kept
    are comments of 15 to 50 words whose aspect is sure to .9, as in StoryER. OUTPUT has the form
    of storyer_ratings: name it under `augmented` in recipes/storyer_led.toml.
    """
    from fabula.learned.training.augmentation import comments_of, read_source, storyer_rows
    from fabula.learned.training.joint_data import read_rated_dataset

    if encoder and weights is None:
        raise SettingError("--encoder is for classifiers that are kept", "say --weights FOLDER")
    refuse_input(output, [Path(source), Path(learn)])
    comments, stories = read_source(source, columns)
    known = comments_of(read_rated_dataset(learn, None))
    bars: Any = {"seed": seed, "least": sure, "words": words, "per_aspect": per_aspect}
    augmented = _label(known, comments, weights, encoder, bars)
    write_json(output, storyer_rows(augmented.kept, stories))
    left = ", ".join(f"{count:,} {why}" for why, count in augmented.left_out.items())
    echo(
        f"{len(augmented.kept):,} of {count_text(len(comments), 'comment')} kept; "
        f"left out: {left or 'none'}",
        err=True,
    )
    echo(output)


def _label(
    known: Sequence[LabelledComment],
    comments: Sequence[Comment],
    weights: Path | None,
    encoder: str | None,
    bars: Mapping[str, Any],
) -> Augmented:
    """Guess from words, or by classifiers on an encoder, which are trained if need be."""
    from fabula.learned.training.augmentation import augment, label_comments

    if weights is None:
        return label_comments(known, comments, **bars)
    from fabula.learned.training.comment_reader import open_comment_reader

    said = open_comment_reader(weights, known, encoder=encoder, seed=bars["seed"], report=_report)
    return augment(comments, classify=said.classify, rate=said.rate, **bars)
