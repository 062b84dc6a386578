"""`fabula campaign`: ask people about stories, from a preset to their ratings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._campaign_running import add_running_commands
from fabula.cli._campaign_work import add_work_commands
from fabula.cli._inputs import story_layout
from fabula.cli._options import FORMAT, OVERWRITE, QUIET, output_option
from fabula.cli._output import print_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.datasets.tables.stories import StoryLayout
    from fabula.studio.campaigns.definition import Definition
    from fabula.studio.campaigns.stories import Material

_CAMPAIGN_FILE = click.argument(
    "file", metavar="CAMPAIGN.TOML", type=click.Path(dir_okay=False, path_type=Path)
)


@click.group("campaign")
def command() -> None:
    """Ask people about stories, and know whether they agree."""


add_running_commands(command)
add_work_commands(command)


@command.command("presets")
@FORMAT
def presets_command(form: str) -> None:
    """List the presets: what each asks, and of how many."""
    from fabula.studio.campaigns.preset_files import list_presets

    rows = [
        {
            "preset": name,
            "asks": definition.about,
            "shows": _spell_unit(definition),
            "raters": definition.raters,
        }
        for name, definition in list_presets().items()
    ]
    print_rows(rows, form)


@command.command("new", short_help="Make a campaign file of a preset and your stories.")
@click.argument("preset")
@click.option(
    "--stories",
    required=True,
    metavar="PATH",
    help="File or folder of stories, as `fabula score` reads them, or a data set.",
)
@output_option(
    metavar="FILE", default="campaign.toml", show_default=True, help="The campaign file to write."
)
@click.option("--name", metavar="NAME", help="Name of the campaign, as in its addresses.")
@click.option("--title", metavar="TEXT", help="What raters see at the top of every page.")
@click.option("--raters", type=click.IntRange(1), metavar="N", help="How many rate every task.")
@click.option(
    "--images", metavar="FOLDER", help="Where the stories' pictures lie, if not beside them."
)
@story_layout
@OVERWRITE
@QUIET
def new_command(
    *,
    preset: str,
    stories: str,
    output: Path,
    layout: StoryLayout,
    overwrite: bool,
    quiet: bool,
    **told: Any,
) -> None:
    """Make a campaign file of a PRESET (or of a campaign file of yours) and your stories.

    The file is commented and yours to change. What it will cost and how long it will take is said
    at once; `fabula campaign check` says it again, and what raters will see.
    """
    from fabula.core.files import refuse_input, write_texts
    from fabula.core.installation import spell_command
    from fabula.studio.campaigns.preset_files import find_preset, make_campaign, make_name

    folder = output.absolute().parent
    source = find_preset(preset)
    # A file by the usual name says nothing of what is asked.
    stem = source.stem if output.stem == "campaign" else output.stem
    changes = {"name": told["name"] or make_name(stem)}
    changes |= {key: told[key] for key in ("title", "raters") if told[key]}
    changes |= {"stories": _name_from(stories, folder)}
    changes |= {"images": _name_from(told["images"], folder)} if told["images"] else {}
    changes |= _spell_layout(layout)
    made = make_campaign(source, changes, folder, layout.say)
    refuse_input(output, [Path(stories), source])
    write_texts(folder, {output.name: made.text}, overwrite=overwrite)
    if not quiet:
        for name in made.hidden:
            echo(f"no story has a {name}: raters are shown none (--column names one)", err=True)
        _say_outlook(made.definition, made.material)
        look, start = (spell_command(f"campaign {word} {output}") for word in ("check", "open"))
        echo(f"what raters will see: {look}; to begin: {start}", err=True)
    echo(output)


@command.command("check", short_help="Read a campaign file and show what raters will see.")
@_CAMPAIGN_FILE
@click.option("--brief", is_flag=True, help="Leave out what raters will see.")
def check_command(file: Path, *, brief: bool) -> None:
    """Read a campaign file with its stories and pictures, count tasks, and show what raters see."""
    from fabula.core.story import count_text
    from fabula.studio.campaigns.definition import read_definition
    from fabula.studio.campaigns.outlook import preview
    from fabula.studio.campaigns.stories import check_pictures, read_material

    definition = read_definition(file)
    material = read_material(definition, file.absolute().parent, _say)
    if pictures := check_pictures(definition, material):
        echo(f"{count_text(pictures, 'picture')} can be read", err=True)
    _say_outlook(definition, material)
    if definition.who:
        echo(f"to ask: {' '.join(definition.who.split())}", err=True)
    if not brief:
        echo(preview(definition, material))


def _say(line: str) -> None:
    echo(line, err=True)


def _say_outlook(definition: Definition, material: Sequence[Material]) -> None:
    from fabula.studio.campaigns.outlook import describe_outlook, foresee
    from fabula.studio.campaigns.stories import describe_gaps

    lines = describe_outlook(foresee(definition, material), definition)
    for line in [*lines, *describe_gaps(definition, material)]:
        echo(line, err=True)


def _spell_unit(definition: Definition) -> str:
    return "a story" if definition.shown == 1 else f"{definition.shown} stories"


def _name_from(path: str, folder: Path) -> str:
    """Name a file as it is named from the campaign's folder; what is no file stays as it is."""
    if not Path(path).exists():
        return path
    if Path(path).is_absolute():
        return path
    return Path(os.path.relpath(path, folder)).as_posix()


def _spell_layout(layout: StoryLayout) -> dict[str, Any]:
    """What the file says of the form of the stories, as the options said it."""
    said = {
        "form.format": layout.kind,
        "form.encoding": layout.encoding,
        "form.delimiter": layout.delimiter,
        "form.sheet": layout.sheet,
        "form.skip_bad": layout.skip_bad,
    }
    columns = {f"form.columns.{role}": name for role, name in layout.columns.items()}
    return {key: value for key, value in said.items() if value} | columns
