"""`fabula campaign open` and what follows: links for raters, how far it is, pause and close."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from fabula.cli import echo
from fabula.cli._options import FORMAT
from fabula.cli._output import print_rows
from fabula.cli._studio_people import on_studio, spell_moment
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.studio.campaigns.opening import Campaign
    from fabula.studio.campaigns.raters import Door, Way
    from fabula.studio.database import Studio
    from fabula.studio.people import Person

NAME = click.argument("name")
USER = click.option(
    "--user",
    "user",
    metavar="NAME",
    help="Who does it, in the studio; may be left out where there is one researcher.",
)
_WAY = click.option(
    "--way",
    type=click.Choice(["code", "prolific", "mturk", "account"]),
    default="code",
    show_default=True,
    help="Who comes in: whoever has the link, a crowd site's workers, people with an account.",
)
_COMPLETION = click.option(
    "--completion",
    metavar="TEXT",
    default="",
    show_default="one of its own for each rater",
    help="Code that raters are given at the end, as the crowd site expects it.",
)
_MOST = click.option(
    "--most",
    type=click.IntRange(0),
    metavar="N",
    default=0,
    show_default=True,
    help="How many raters it lets in; 0 is any number.",
)
_HINTS = {
    "code": "whoever has this link can come in:",
    "prolific": "this is the study's URL on Prolific, which fills in what is in braces:",
    "mturk": "MTurk gives workerId, assignmentId and hitId to the page of a HIT, which has to hand"
    " them on (docs/campaigns.md has the lines):",
    "account": "people with an account here come in by it, once they signed in:",
}


def add_running_commands(group: click.Group) -> None:
    """Give the group the commands of this file."""
    for command in (open_command, list_command, status_command, pause_command, close_command):
        group.add_command(command)
    group.add_command(doors)


@click.command("open", short_help="Put a campaign into the studio, open it, print a link.")
@click.argument("which", metavar="CAMPAIGN.TOML|NAME")
@USER
@click.option("--draft", is_flag=True, help="Put it into the studio only; raters cannot come in.")
@on_studio(current=False)
def open_command(*, studio: Studio, which: str, user: str | None, draft: bool) -> None:
    """Put a campaign file with its stories into the studio and open it; NAME opens one there again.

    Prints a link by which anybody can come in; `doors add` makes others. `fabula serve` has to run
    for the link to work.
    """
    from fabula.studio.campaigns.opening import set_campaign_state
    from fabula.studio.campaigns.raters import list_doors, make_door
    from fabula.studio.migrations import migrate

    migrate(studio)
    if which.endswith(".toml"):
        which = _create(studio, find_researcher(studio, user), Path(which)).name
    if draft:
        echo(f"{which} is a draft; open it with: fabula campaign open {which}", err=True)
        return
    name = set_campaign_state(studio, None, which, "open").name
    doors = [door for door in list_doors(studio, None, name) if not door.closed_at]
    for door in doors or [make_door(studio, None, name, way="code")]:
        echo(spell_door(name, door))


def _create(studio: Studio, owner: Person, path: Path) -> Campaign:
    from fabula.studio.campaigns.definition import read_definition
    from fabula.studio.campaigns.opening import create_campaign
    from fabula.studio.campaigns.stories import read_material

    definition = read_definition(path)
    material = read_material(definition, path.absolute().parent)
    campaign = create_campaign(studio, owner, definition, material)
    stories = count_text(len(material), "story", "stories")
    echo(f"{campaign.name} is in the studio, {owner.name}'s: {stories}", err=True)
    echo("the link works while the studio runs: fabula serve", err=True)
    return campaign


def find_researcher(studio: Studio, name: str | None) -> Person:
    """Find who acts: the person named, the only one who may, or who uses an empty studio."""
    from fabula.core.errors import SettingError
    from fabula.studio.local import name_system_user, welcome_owner
    from fabula.studio.people import find_person, list_people

    if name:
        return find_person(studio, name)
    people = [profile.person for profile in list_people(studio, None)]
    if not people:
        return welcome_owner(studio, name_system_user())
    able = [person for person in people if person.may("researcher")]
    if len(able) == 1:
        return able[0]
    names = ", ".join(person.name for person in able)
    who = f"several people may do this: {names}" if able else "nobody here is a researcher"
    raise SettingError(who, "name one with --user, or: fabula studio user roles NAME researcher")


@click.command("list")
@FORMAT
@on_studio
def list_command(*, studio: Studio, form: str) -> None:
    """List the campaigns of the studio, the newest first."""
    from fabula.studio.campaigns.opening import list_campaigns

    rows = [
        {
            "name": campaign.name,
            "state": campaign.state,
            "preset": campaign.definition.preset,
            "stories": progress.stories,
            "accepted": progress.accepted,
            "wanted": progress.wanted,
            "raters": progress.raters,
            "created": spell_moment(campaign.created_at),
        }
        for campaign, progress in list_campaigns(studio, None)
    ]
    print_rows(rows, form)


@click.command("status")
@NAME
@on_studio
def status_command(*, studio: Studio, name: str) -> None:
    """Say how far the campaign NAME is, and by which links raters come in."""
    from fabula.studio.campaigns.opening import find_campaign, list_campaigns
    from fabula.studio.campaigns.raters import list_doors

    campaign = find_campaign(studio, None, name)
    progress = next(far for found, far in list_campaigns(studio, None) if found.id == campaign.id)
    facts = {
        "campaign": f"{campaign.name}: {campaign.definition.title}",
        "state": campaign.state,
        "opened": spell_moment(campaign.opened_at),
        "stories": f"{progress.stories:,} in {count_text(progress.tasks, 'task')}",
        "ratings": f"{progress.accepted:,} of {progress.wanted:,}, {progress.leased:,} in hand",
        "raters": f"{progress.raters:,}",
    }
    for key, value in facts.items():
        echo(f"{key:9} {value}")
    for door in list_doors(studio, None, name):
        echo(spell_door(campaign.name, door))


def _set_state(studio: Studio, name: str, state: Literal["paused", "closed"]) -> None:
    from fabula.studio.campaigns.opening import set_campaign_state

    campaign = set_campaign_state(studio, None, name, state)
    echo(f"{campaign.name}: {campaign.state}", err=True)


@click.command("pause")
@NAME
@on_studio
def pause_command(*, studio: Studio, name: str) -> None:
    """Let the campaign NAME give out nothing new; what raters have in hand they may finish."""
    _set_state(studio, name, "paused")


@click.command("close")
@NAME
@on_studio
def close_command(*, studio: Studio, name: str) -> None:
    """End the campaign NAME; `open` opens it again."""
    _set_state(studio, name, "closed")


@click.group("doors")
def doors() -> None:
    """Links by which raters come in."""


@doors.command("add")
@NAME
@_WAY
@_COMPLETION
@_MOST
@on_studio
def add_door_command(*, studio: Studio, name: str, way: Way, completion: str, most: int) -> None:
    """Print a link into the campaign NAME, as the crowd site wants it."""
    from fabula.studio.campaigns.raters import make_door

    door = make_door(studio, None, name, way=way, completion=completion, most=most)
    echo(_HINTS[way], err=True)
    echo(spell_door(name, door))


@doors.command("list")
@NAME
@FORMAT
@on_studio
def list_doors_command(*, studio: Studio, name: str, form: str) -> None:
    """List the links into the campaign NAME and how many came by each."""
    from fabula.studio.campaigns.raters import list_doors

    rows = [
        {
            "id": door.id,
            "way": door.way,
            "raters": door.raters,
            "most": door.most or "",
            "completion": door.completion,
            "closed": spell_moment(door.closed_at),
            "link": spell_door(name, door),
        }
        for door in list_doors(studio, None, name)
    ]
    # A link is for copying: in a table it would be broken over lines.
    links = [row.pop("link") for row in rows] if form == "table" else []
    print_rows(rows, form)
    for link in links:
        echo(link)


@doors.command("close")
@NAME
@click.argument("door_id", metavar="ID")
@on_studio
def close_door_command(*, studio: Studio, name: str, door_id: str) -> None:
    """Let nobody new come into the campaign NAME by this door; who came by it goes on."""
    from fabula.studio.campaigns.raters import close_door

    close_door(studio, None, name, door_id)
    echo(f"{door_id}: closed", err=True)


def spell_door(campaign: str, door: Door) -> str:
    """Write the link of a door as raters, or the crowd site, are given it."""
    from fabula.web.settings import read_settings

    address = read_settings().public_url or "http://127.0.0.1:8000"
    return door.spell_link(address, campaign)
