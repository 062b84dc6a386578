"""`fabula studio user` and `fabula studio token`: who may come in, by whom the machine is run.

A password is never an argument, which others would see: it is asked for, or set by a link.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._options import FORMAT, database_option
from fabula.cli._output import print_rows

if TYPE_CHECKING:
    from fabula.studio.database import Studio

_ROLES = click.Choice(["author", "annotator", "researcher", "admin"])
_SCOPES = click.Choice(["dataset", "judgement", "user_edits", "backend"])
_HOURS = click.option(
    "--hours",
    type=click.FloatRange(0, 720, min_open=True),
    default=24.0,
    show_default=True,
    metavar="X",
    help="How long the link works.",
)
_ROLE = click.option(
    "--role",
    "roles",
    type=_ROLES,
    multiple=True,
    show_default="author",
    help="What the person may do; may be repeated.",
)


def on_studio(
    command: Callable[..., None] | None = None, *, current: bool = True
) -> Callable[..., Any]:
    """Give a command the studio that --database names, and close it after.

    Its tables must be those of this version unless `current` is false.
    """
    if command is None:
        return functools.partial(on_studio, current=current)
    work = command

    @database_option()
    @functools.wraps(work)
    def run(database: str | None, **options: Any) -> None:
        from fabula.core.errors import PackageMissing

        try:
            from fabula.studio.database import need_answer, open_studio
            from fabula.studio.migrations import need_schema
        except ModuleNotFoundError as error:
            raise PackageMissing(error.name or "sqlalchemy", "web") from None
        studio = open_studio(database)
        try:
            need_answer(studio)
            if current:
                need_schema(studio)
            work(studio=studio, **options)
        finally:
            studio.close()

    return run


@click.group("user")
def user() -> None:
    """Take people in, give them roles, let them go."""


@user.command("add", short_help="Take a person in, and print a link for their password.")
@click.argument("name")
@_ROLE
@click.option("--email", metavar="TEXT", help="Their e-mail address, to sign in with as well.")
@click.option("--display", metavar="TEXT", default="", help="Their name as others see it.")
@click.option("--prompt", is_flag=True, help="Ask for the password here instead of a link.")
@_HOURS
@on_studio
def add_user(
    *,
    studio: Studio,
    name: str,
    roles: tuple[str, ...],
    email: str | None,
    display: str,
    prompt: bool,
    hours: float,
) -> None:
    """Take the person NAME in.

    Prints a link by which they choose their password; with --prompt it is asked for here.
    """
    from fabula.studio.links import make_link
    from fabula.studio.people import create_person

    about: dict[str, Any] = {"email": email, "display": display, "roles": roles or ("author",)}
    if prompt:
        about["password"] = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    person = create_person(studio, None, name=name, **about)
    echo(f"{person.name} is in: {', '.join(sorted(person.roles))}", err=True)
    if not prompt:
        secret = make_link(studio, None, purpose="password", person_id=person.id, hours=hours)
        echo(spell_link(secret))


@user.command("list")
@FORMAT
@on_studio
def list_users(*, studio: Studio, form: str) -> None:
    """List all people and what they may do."""
    from fabula.studio.people import list_people

    rows = [
        {
            "name": profile.person.name,
            "roles": sorted(profile.person.roles),
            "email": profile.email or "",
            "display": profile.display,
            "password": profile.has_password,
            "created": spell_moment(profile.created_at),
            "seen": spell_moment(profile.seen_at),
        }
        for profile in list_people(studio, None)
    ]
    print_rows(rows, form)


@user.command("roles")
@click.argument("name")
@click.argument("roles", nargs=-1, type=_ROLES)
@on_studio
def set_user_roles(*, studio: Studio, name: str, roles: tuple[str, ...]) -> None:
    """Give the person NAME these ROLES and no others."""
    from fabula.studio.people import find_person, set_roles

    person = set_roles(studio, None, find_person(studio, name).id, roles)
    echo(f"{person.name}: {', '.join(sorted(person.roles)) or 'no role'}")


@user.command("link", short_help="Print a link for a new person, or a new password.")
@click.argument("name", required=False)
@_ROLE
@_HOURS
@on_studio
def make_user_link(
    *, studio: Studio, name: str | None, roles: tuple[str, ...], hours: float
) -> None:
    """Print a link that works once: for the person NAME to choose a new password, or an invitation.

    In an empty studio it makes the first admin.
    """
    from fabula.studio.links import is_empty, make_link
    from fabula.studio.people import find_person

    if name and roles:
        raise click.UsageError("--role is for an invitation; `roles` changes those of a person")
    if name:
        about: dict[str, Any] = {"purpose": "password", "person_id": find_person(studio, name).id}
    elif is_empty(studio):
        about = {"purpose": "first", "roles": roles}
    else:
        about = {"purpose": "invite", "roles": roles}
    echo(spell_link(make_link(studio, None, hours=hours, **about)))


@user.command("export")
@click.argument("name")
@on_studio
def export_user(*, studio: Studio, name: str) -> None:
    """Print everything that is the person's, as JSON."""
    from fabula.studio.people import find_person
    from fabula.studio.privacy import export_person

    given = export_person(studio, None, find_person(studio, name).id)
    echo(json.dumps(given, indent=1, ensure_ascii=False))


@user.command("delete", short_help="Forget a person; what they rated stays, anonymous.")
@click.argument("name")
@click.option("--empty", is_flag=True, help="Empty the text of what they published as well.")
@click.option("--yes", is_flag=True, help="Do not ask whether it is meant.")
@on_studio
def delete_user(*, studio: Studio, name: str, empty: bool, yes: bool) -> None:
    """Forget the person NAME, which cannot be undone.

    Their drafts and all that says who they were go. Ratings stay, under a rater whom nobody knows;
    what was published stays without an author, unless --empty.
    """
    from fabula.studio.people import find_person
    from fabula.studio.privacy import delete_person

    person = find_person(studio, name)
    if not yes:
        click.confirm(f"Forget {person.name}, with all drafts?", abort=True, err=True)
    delete_person(studio, None, person.id, entries="empty" if empty else "keep")
    echo(f"{person.name} is forgotten", err=True)


@click.group("token")
def token() -> None:
    """Make and revoke tokens, by which people's programs come in."""


@token.command("make")
@click.argument("person")
@click.argument("name")
@click.option(
    "--scope", "scopes", type=_SCOPES, multiple=True, help="What it opens; may be repeated."
)
@click.option(
    "--days",
    type=click.FloatRange(0, 3660, min_open=True),
    metavar="X",
    help="How long it works; until it is revoked if left out.",
)
@on_studio
def make_user_token(
    *, studio: Studio, person: str, name: str, scopes: tuple[str, ...], days: float | None
) -> None:
    """Make a token called NAME for a PERSON and print its secret, which nobody sees again."""
    from fabula.studio.people import find_person
    from fabula.studio.tokens import make_token

    owner = find_person(studio, person)
    token_id, secret = make_token(studio, owner, name, scopes=scopes, days=days)
    echo(f"token {token_id} of {owner.name}; its secret is shown this once:", err=True)
    echo(secret)


@token.command("list")
@click.argument("person")
@FORMAT
@on_studio
def list_user_tokens(*, studio: Studio, person: str, form: str) -> None:
    """List a PERSON's tokens, without their secrets."""
    from fabula.studio.people import find_person
    from fabula.studio.tokens import list_tokens

    rows = [
        {
            "id": found.id,
            "name": found.name,
            "scopes": list(found.scopes),
            "created": spell_moment(found.created_at),
            "used": spell_moment(found.used_at),
            "expires": spell_moment(found.expires_at),
            "revoked": spell_moment(found.revoked_at),
        }
        for found in list_tokens(studio, find_person(studio, person))
    ]
    print_rows(rows, form)


@token.command("revoke")
@click.argument("token_id", metavar="ID")
@on_studio
def revoke_user_token(*, studio: Studio, token_id: str) -> None:
    """Let the token with this ID work no more."""
    from fabula.studio.tokens import revoke_token

    revoke_token(studio, None, token_id)
    echo(f"{token_id}: revoked", err=True)


def spell_link(secret: str) -> str:
    """Write a link as a browser takes it, at the address that the studio is known by."""
    from fabula.web.settings import read_settings

    return f"{read_settings().public_url or 'http://127.0.0.1:8000'}/account/link/{secret}"


def spell_moment(moment: Any) -> str:
    """Write a moment to the minute, in UTC; nothing where there is none."""
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""
