"""What the trainings of `fabula train` can be told; most of it is true of all of them."""

from __future__ import annotations

import click

from fabula.cli._inputs import column_option
from fabula.cli._options import existing_folder_type, file_type, seed_option

RECIPE = click.option(
    "--recipe",
    type=file_type,
    metavar="FILE",
    show_default="built in",
    help="TOML file that says what is learned from what.",
)
SEED = seed_option(default=None, show_default="the recipe's")
GRID = click.option(
    "--grid",
    type=file_type,
    metavar="FILE",
    help="TOML file with values of settings, all of which combine, or with variants.",
)
DEVICE = click.option(
    "--device",
    default="",
    metavar="NAME",
    show_default="cuda where there is one",
    help="Where to train: cpu or cuda.",
)
RESUME = click.option(
    "--resume", is_flag=True, help="Go on with a training of this folder that was stopped."
)
ASPECT = click.option(
    "--aspect", default="", metavar="NAME", help="Which aspect, where several are rated."
)
PREPARED = click.option(
    "--prepared",
    type=file_type,
    metavar="FILE",
    help="Examples made ready (.npz): read if the file is there, else written.",
)
START = click.option(
    "--start",
    type=existing_folder_type,
    metavar="FOLDER",
    show_default="the asset",
    help="Folder of the encoder to begin with; with --ratings, of the reader.",
)
FOLDS = click.option(
    "--folds",
    type=click.IntRange(2),
    metavar="N",
    help="Measure on unseen stories: train N more readers, each without one part of the items.",
)
SEEDS = click.option(
    "--seeds",
    type=click.IntRange(1),
    metavar="N",
    default=1,
    show_default=True,
    help="Repeat the folds, or a joint training, N times, each time with other chances.",
)
RATINGS = click.option(
    "--ratings",
    type=file_type,
    metavar="FILE",
    help="Table of your own ratings, to fit a reader to your taste.",
)
GOLD = click.option(
    "--gold",
    metavar="NAME",
    help="Column of --ratings, or of a table that --evaluate measures on, that holds ratings.",
)
PERSONAL_OPTIONS = (
    RATINGS,
    GOLD,
    column_option("Column of --ratings that plays a role: text=story; may be repeated.", "text"),
    ASPECT,
)
TOKENS = click.option(
    "--tokens",
    type=file_type,
    metavar="FILE",
    help="Stories as word pieces (.npz): read if the file is there, else written.",
)
STEPS = click.option(
    "--steps",
    type=click.IntRange(1),
    metavar="N",
    show_default="the recipe's",
    help="How many batches are learned from.",
)
