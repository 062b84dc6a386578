"""`fabula author`: co-authors, what they need, a try, and one offered to others."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import Display, echo
from fabula.cli._completion import complete_authors
from fabula.cli._options import BATCH, FORMAT, HOST, TIMEOUT, port_option, seed_option
from fabula.cli._output import print_rows
from fabula.core.errors import SettingError, UserError
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.core.author import Request

_SPEC = click.argument("spec", shell_complete=complete_authors)


@click.group("author")
def command() -> None:
    """List co-authors, try one, offer one to others."""


@command.command("list", short_help="List co-authors, and which can write here.")
@FORMAT
def list_command(form: str) -> None:
    """List co-authors: what they need, whether they can write here, and what helps."""
    from fabula.authors import AUTHORS

    print_rows([_describe_row(name) for name in AUTHORS.names()], form)


def _describe_row(name: str) -> dict[str, Any]:
    from fabula.authors import find_needs

    try:
        needs = find_needs(name)
    except UserError as error:  # of another package, and no reason to hide the others
        return {"name": name, "about": "", "needs": "", "writes_here": "no", "helps": str(error)}
    obstacle = needs.find_obstacle(name)
    return {
        "name": name,
        "about": needs.about,
        "needs": [*needs.settings, *needs.packages, *needs.assets],
        "writes_here": "no" if obstacle else "yes",
        "helps": obstacle,
    }


@command.command("show", short_help="Show a co-author: settings, needs, signature.")
@_SPEC
def show_command(spec: str) -> None:
    """Show what a co-author is, its settings, what it needs, and the signature of SPEC.

    SPEC is a name, or a name with settings: "api('gpt-x', base_url='http://…/v1')".
    """
    from fabula.authors import AUTHORS, author_spec, find_needs, load_author
    from fabula.core.catalogue import describe_settings
    from fabula.core.settings import parse_spec

    name = parse_spec(spec)[0]
    needs = find_needs(name)
    echo(needs.about)
    for setting, meaning in describe_settings(AUTHORS.get(name)):
        echo(f"  {setting:16} {meaning}")
    if needs.packages or needs.assets:
        echo(f"needs: {', '.join([*needs.packages, *needs.assets])}")
    if obstacle := needs.find_obstacle(name):
        echo(f"cannot write here; {obstacle}")
        return
    try:
        canonical = author_spec(spec)
        echo(f"signature of {canonical}: {load_author(spec).signature}")
    except UserError as error:
        echo(str(error))


@command.command("try", short_help="Let a co-author go on with a text, here.")
@_SPEC
@click.option("--prompt", default="", metavar="TEXT", help="What the story is to be about.")
@click.option("--text", default="", metavar="TEXT", help="The text to go on with.")
@click.option(
    "--plan",
    default="",
    metavar="TEXT",
    help="Plot words, parted by commas, for a co-author that plans; else it plans itself.",
)
@click.option(
    "--wanted",
    default="words=-250",
    show_default=True,
    metavar="TEXT",
    help="How much: words=-250 are the next 250 at most; also chars, tokens, sentences.",
)
@click.option(
    "--decoding",
    default="",
    metavar="TEXT",
    help="How tokens are drawn, such as temperature=0.7, top_k=0; else as in the studio.",
)
@seed_option()
def try_command(
    spec: str, prompt: str, text: str, *, plan: str, wanted: str, decoding: str, seed: int
) -> None:
    """Let a co-author go on with a text; what it writes is printed as it comes."""
    from dataclasses import replace

    from fabula.authors.context.ranges import parse_wanted
    from fabula.authors.writing.run import parse_decoding
    from fabula.core.author import Decoding, Request, Segment
    from fabula.text.context.segments import prompt_context

    if not prompt.strip() and not text.strip():
        raise SettingError("there is nothing to go on with", "give --prompt or --text")
    context = prompt_context(prompt, text, story="try")
    if plan.strip():
        planned = Segment("plan", plan, minimum=50, priority=5)
        context = replace(context, segments=(*context.segments, planned))
    request = Request(
        "try", context, parse_wanted(wanted), parse_decoding(decoding, Decoding()), seed
    )
    _write(spec, request)


def _write(spec: str, request: Request) -> None:
    """Print pieces as they come on a terminal, elsewhere the text that stays."""
    from fabula.authors import load_author
    from fabula.core.protocols import watch

    author, text, is_live = load_author(spec), "", sys.stdout.isatty()
    with watch.get().during(f"starting {spec}"):
        author.startup()
        author.preprocess(request.context)
    _end_display()
    try:
        for piece in author.generate([request]):
            shown, text = text, piece.text if piece.replaces else text + piece.text
            if is_live and not piece.replaces:
                echo(piece.text, nl=False)
            elif is_live and text != shown:
                # What has been printed stands; a fragment at its end is taken back in words.
                echo()
                echo(f"(what stays: {text.strip()})", err=True)
            if piece.status == "failed":
                raise UserError(piece.problem)
    finally:
        author.shutdown()
    echo("" if is_live else text.strip())
    for planned in (each.text for each in piece.seen if each.kind == "plan"):
        echo(f"(plan: {planned})", err=True)


def _end_display() -> None:
    """Show no progress from here on: what is printed, or waited for, is no work to be watched."""
    if Display.current:
        Display.current.close()


@command.command("serve", short_help="Offer a co-author by STORIUM's model protocol.")
@_SPEC
@HOST
@port_option(default=8100)
@BATCH
@TIMEOUT
@click.option(
    "--compat", is_flag=True, help="Keep the quirks of STORIUM's platform, as it was released."
)
@seed_option()
def serve_command(
    spec: str, host: str, port: int, batch: int, timeout_s: float, compat: bool, seed: int
) -> None:
    """Offer a co-author to others by STORIUM's model protocol, until Ctrl-C.

    Any co-author will do. Elsewhere it is `remote('http://HOST:PORT')`, and what speaks STORIUM's
    protocol can ask it too. Nobody signs in: who can reach the address may ask.
    """
    from fabula.authors import load_author
    from fabula.authors.serving.app import ServingSettings, create_app, listen
    from fabula.authors.serving.batches import BatchSettings, BatchWriter
    from fabula.core.machine import find_port, spell_address
    from fabula.core.protocols import watch
    from fabula.models.servers.http import LOCAL

    writer = BatchWriter(load_author(spec), BatchSettings(size=batch, timeout_s=timeout_s))
    app = create_app(writer, ServingSettings(compat=compat, seed=seed))
    address = host, find_port(host, port)
    with watch.get().during(f"starting {spec}"):
        writer.start()
    _end_display()
    if host not in LOCAL:
        echo("Nobody signs in: who can reach this address may ask.", err=True)
    words = f"{spec} writes at {spell_address(*address)} (Ctrl-C ends it)"
    listen(app, *address, announce=lambda: echo(words, err=True))


@command.command("install", short_help="Install the packages that a co-author requires.")
@click.argument("name", shell_complete=complete_authors)
@click.option("--dry-run", is_flag=True, help="Print the command, and do nothing.")
def install_command(name: str, dry_run: bool) -> None:
    """Install the packages that the co-author NAME requires and that are not here, by pip.

    The command is printed first.
    """
    import subprocess

    from fabula.authors import find_needs
    from fabula.core.installation import find_pip
    from fabula.models.store.fetch import is_offline

    missing = find_needs(name).missing
    if not missing:
        echo(f"{name} has all the packages that it requires", err=True)
        return
    words = [*find_pip(), *missing]
    echo(shlex.join(words))
    if dry_run:
        return
    if is_offline():
        raise SettingError("nothing is fetched (FABULA_OFFLINE is set)", "unset it")
    if done := subprocess.run(words, stdout=sys.stderr, check=False).returncode:
        packages = count_text(len(missing), "package")
        raise UserError(f"pip gave up on {packages} (exit code {done})", "see what it says above")
