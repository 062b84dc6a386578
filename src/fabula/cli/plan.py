"""`fabula plan`: how many items and raters a study needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli._inputs import COLUMN, GOLD
from fabula.cli._output import paper_format_option
from fabula.core.errors import SettingError, UnknownName, closest

if TYPE_CHECKING:
    from fabula.core.story import Story
    from fabula.meta.plans.plan import Design, Plan, Wish
    from fabula.meta.raters.ratings import Ratings

# The agreement of one rating that is assumed where nothing is known.
_ICC = 0.3


@click.command("plan")
@click.option("--items", required=True, metavar="NUMBERS", help="Such as 50,100,200.")
@click.option("--raters", default="1,3,5", show_default=True, metavar="NUMBERS", help="A story.")
@click.option("--effect", metavar="X|Xsd", help="Difference of two systems' means: 0.2 or 0.2sd.")
@click.option("--correlation", type=float, help="A metric's, with the quality itself.")
@click.option("--versus", type=float, help="The correlation of another metric.")
@click.option("--between", type=float, help="The correlation of the two metrics.")
@click.option("--systems", type=click.IntRange(1), default=2, show_default=True)
@click.option("--icc", type=float, help=f"ICC(1,1) of one rating.  [default: {_ICC}]")
@click.option("--sd", type=float, help="Standard deviation of one rating.  [default: 1]")
@click.option("--from", "source", help="Data set or table whose ratings tell ICC and spread.")
@click.option("--path", type=click.Path(path_type=Path), help="Where the data set's files lie.")
@click.option("--partial", is_flag=True, help="Use an incomplete release.")
@GOLD
@COLUMN
@click.option("-a", "--aspect", help="Aspect of the data set to plan for.")
@click.option("--half-width", type=float, help="Wanted: an interval of plus or minus this.")
@click.option("--power", type=float, default=0.8, show_default=True, help="Wanted: this power.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the test.")
@click.option("--studies", type=click.IntRange(100), default=2000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@paper_format_option
def command(**options: Any) -> None:
    """Say how many items and raters a study needs, by simulation.

    Either --effect, a difference of two systems' means in points of the scale (or in standard
    deviations of one rating: 0.2sd), or --correlation of a metric, perhaps --versus another's.
    How much raters agree comes --from a data set or table, or from --icc and --sd.
    """
    from fabula.meta.plans.plan import Design, Wish
    from fabula.reports.plan import render_plan

    design = Design(
        numbers("items", options["items"]),
        numbers("raters", options["raters"]),
        **{name: options[name] for name in ("systems", "alpha", "studies", "seed")},
    )
    wish = Wish(options["power"], options["half_width"])
    click.echo(render_plan(options["form"], _planned(options, design, wish)))


def numbers(name: str, text: str) -> tuple[int, ...]:
    """Read whole numbers parted by commas."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise SettingError(f"--{name} {text!r} will not do", "write 50,100,200") from None


def _planned(options: dict[str, Any], design: Design, wish: Wish) -> Plan:
    effect, correlation = options["effect"], options["correlation"]
    if (effect is None) == (correlation is None):
        raise SettingError("one effect is wanted", "give --effect or --correlation")
    if options["source"] and not (options["icc"] is None and options["sd"] is None):
        raise SettingError("--from tells ICC and spread itself", "leave out --icc and --sd")
    if correlation is None and (options["versus"] is not None or options["between"] is not None):
        raise SettingError("--versus and --between go with --correlation", "leave them out")
    if effect is not None:
        return _difference(effect, options, design, wish)
    from fabula.meta.plans.correlation import plan_correlation

    others = {name: options[name] for name in ("versus", "between")}
    return plan_correlation(correlation, design, icc=_icc(options), wish=wish, **others)


def _difference(effect: str, options: dict[str, Any], design: Design, wish: Wish) -> Plan:
    from fabula.meta.plans.difference import plan_difference
    from fabula.meta.raters.components import Components, estimate_components

    if options["source"]:
        components = estimate_components(*_ratings(options))
    else:
        sd = 1.0 if options["sd"] is None else options["sd"]
        components = Components.of_icc(_icc(options), sd)
    in_sd = effect.endswith("sd")
    try:
        size = float(effect.removesuffix("sd"))
    except ValueError:
        raise SettingError(f"--effect {effect!r} will not do", "write 0.2 or 0.2sd") from None
    size *= components.sd if in_sd else 1.0
    return plan_difference(size, design, components=components, wish=wish)


def _icc(options: dict[str, Any]) -> float:
    if not options["source"]:
        given: float | None = options["icc"]
        return _ICC if given is None else given
    from fabula.meta.raters.icc import one_way

    ratings, _ = _ratings(options)
    return one_way(ratings.packed)[0].value


def _ratings(options: dict[str, Any]) -> tuple[Ratings, tuple[Story, ...]]:
    """Read the ratings of the aspect to plan for."""
    from fabula.meta.raters.ratings import ratings_of
    from fabula.scoring.sources import DatasetSource

    names = ("path", "partial", "gold", "columns")
    given = {name: options[name] for name in names}
    dataset = DatasetSource(options["source"], **given).load()
    found = {one.aspect: one for one in ratings_of(dataset.ratings)}
    aspect = options["aspect"]
    if aspect is None and len(found) > 1:
        raise SettingError("several aspects are rated", f"give --aspect: {', '.join(found)}")
    if aspect is not None and aspect not in found:
        raise UnknownName(f"no aspect is called {aspect!r} here", closest(aspect, found))
    return found[aspect if aspect is not None else next(iter(found))], dataset.stories
