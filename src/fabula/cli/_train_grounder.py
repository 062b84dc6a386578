"""`fabula train rovist_vg`: a grounder that finds your nouns in your pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from fabula.cli import echo
from fabula.cli._options import existing_folder_type, file_type
from fabula.cli._train_options import DEVICE, RECIPE, RESUME, SEED

GROUNDER_HELP = """Learn which noun a part of a picture shows: a grounder.

REGIONS is a table with a row a region: a picture file (crop, file or image), a noun or phrase, and
left, top, width and height (x, y, w, h, or box) where it is a part of the file. The layout that
RoViST made of Flickr30k Entities is read as it is: image_id, bbox, noun_phrase, and crops
IMAGE_ID_BBOX.jpg. Pictures are held out whole, or as a column split says (train, valid, test).

The recipe that is built in is recipes/rovist_vg.toml. The folder is a grounder wherever one is
named: rovist_vg(grounder='FOLDER').
"""
GROUNDER_OPTIONS = (
    click.option(
        "--regions",
        "table",
        type=file_type,
        required=True,
        metavar="FILE",
        help="Table of regions (JSONL, CSV, …).",
    ),
    click.option(
        "--images",
        type=existing_folder_type,
        metavar="FOLDER",
        show_default="the table's",
        help="Folder that file names go by.",
    ),
    RECIPE,
    SEED,
    DEVICE,
    RESUME,
)


def grounder_command(
    table: Path,
    images: Path | None,
    out: Path,
    recipe: Path | None,
    seed: int | None,
    device: str,
    resume: bool,
    report: Callable[[str], None],
) -> None:
    """Train two towers on regions; say how often held-out ones found their noun."""
    from fabula.learned.training.grounder import GrounderRecipe, train_grounder
    from fabula.learned.training.recipe import find_recipe, read_recipe
    from fabula.learned.training.regions import read_regions

    chosen = read_recipe(GrounderRecipe, recipe or find_recipe("rovist_vg"), seed=seed)
    regions = read_regions(table, images, held_out=chosen.held_out, seed=chosen.seed)
    report(", ".join(f"{count:,} {fate}" for fate, count in regions.counts.items()))
    record = train_grounder(chosen, regions, out=out, device=device, resume=resume, report=report)
    if regions.held_out:
        said = ", ".join(f"{name} {value:.3f}" for name, value in record["held_out"].items())
        report(f"nouns of held-out regions, ranked among one another: {said}")
    else:
        report("nothing was measured: no region was held out")
    echo(f"rovist_vg(grounder={str(out)!r})")
