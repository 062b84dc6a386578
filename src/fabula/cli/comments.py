"""`fabula comments`: what readers talk about, and more comments to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_sources
from fabula.cli._inputs import column_option
from fabula.cli._options import folder_type, output_option, seed_option
from fabula.cli._output import format_option, print_rows
from fabula.core.errors import SettingError
from fabula.core.files import refuse_input, write_json
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.learned.training.augmentation import Augmented, Comment, LabelledComment

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
@format_option
def topics_command(
    source: str, columns: dict[str, str], least: int, most: int, seed: int, form: str
) -> None:
    """Find what comments are about, from which aspects can be named by hand.

    SOURCE is a data set with comments (storyer_ratings) or a table of your own. Latent Dirichlet
    allocation (scikit-learn); the number of topics is the one that is most stable from run to run.
    """
    from fabula.learned.training.augmentation import read_source
    from fabula.learned.training.topics import find_topics

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

    def report(line: str) -> None:
        echo(line, err=True)

    said = open_comment_reader(weights, known, encoder=encoder, seed=bars["seed"], report=report)
    return augment(comments, classify=said.classify, rate=said.rate, **bars)
