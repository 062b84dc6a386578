"""`fabula plan`: how many items and raters a study needs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_sources
from fabula.cli._inputs import COLUMN, GOLD, PARTIAL, form_options, path_option, pop_form
from fabula.cli._options import PAPER_FORMAT, alpha_option, seed_option
from fabula.core.errors import SettingError, UnknownName, closest

if TYPE_CHECKING:
    from fabula.core.story import Story
    from fabula.meta.plans.plan import Design, Plan, Wish
    from fabula.meta.raters.ratings import Ratings
    from fabula.scoring.sources import DatasetSource

# The agreement of one rating that is assumed where nothing is known.
_ICC = 0.3


@dataclass(frozen=True)
class _Known:
    """What is known of the ratings: a source that tells, or ICC and spread."""

    source: DatasetSource | None
    aspect: str | None
    icc: float | None
    sd: float | None

    def one_rating_icc(self) -> float:
        """Give the ICC(1,1) of one rating."""
        if not self.source:
            return _ICC if self.icc is None else self.icc
        from fabula.meta.raters.icc import one_way

        ratings, _ = self.ratings()
        return one_way(ratings.packed)[0].value

    def ratings(self) -> tuple[Ratings, tuple[Story, ...]]:
        """Read the ratings of the aspect to plan for."""
        from fabula.meta.raters.ratings import ratings_of

        assert self.source
        dataset = self.source.load()
        by_aspect = {ratings.aspect: ratings for ratings in ratings_of(dataset.ratings)}
        aspect = self.aspect
        if aspect is None and len(by_aspect) > 1:
            known = ", ".join(by_aspect)
            raise SettingError("several aspects are rated", f"give --aspect: {known}")
        if aspect is not None and aspect not in by_aspect:
            raise UnknownName(f"no aspect is called {aspect!r} here", closest(aspect, by_aspect))
        return by_aspect[aspect if aspect is not None else next(iter(by_aspect))], dataset.stories


def _gather_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give the command the design, the wish, and what is known of the ratings."""

    @functools.wraps(command)
    def gather(*, items: str, raters: str, source: str | None, **options: Any) -> None:
        from fabula.datasets.tables.text_file import FileForm
        from fabula.meta.plans.plan import Design, Wish
        from fabula.scoring.sources import DatasetSource

        def take(*names: str) -> dict[str, Any]:
            return {name: options.pop(name) for name in names}

        numbers = parse_numbers("items", items), parse_numbers("raters", raters)
        where = take("path", "partial", "gold", "columns")
        where["form"] = FileForm(**pop_form(options))
        known = _Known(
            DatasetSource(source, **where) if source else None, **take("aspect", "icc", "sd")
        )
        design = Design(*numbers, **take("systems", "alpha", "studies", "seed"))
        command(design=design, wish=Wish(**take("power", "half_width")), known=known, **options)

    return gather


@click.command("plan")
@click.option(
    "--items",
    required=True,
    metavar="N,N,…",
    help="How many items (prompts) the study may have: 50,100,200.",
)
@click.option(
    "--raters",
    default="1,3,5",
    show_default=True,
    metavar="N,N,…",
    help="How many people may rate each story: 1,3,5.",
)
@click.option(
    "--effect",
    metavar="X|Xsd",
    help="Difference of two systems' means to be found: 0.2 points, or 0.2sd.",
)
@click.option(
    "--correlation",
    type=float,
    metavar="X",
    help="Correlation of a metric with true quality to be found.",
)
@click.option(
    "--versus",
    type=float,
    metavar="X",
    help="Correlation of another metric with true quality, to be told from the first.",
)
@click.option(
    "--between",
    type=float,
    metavar="X",
    help="Correlation of the two metrics with each other.",
)
@click.option(
    "--systems",
    type=click.IntRange(1),
    metavar="N",
    default=2,
    show_default=True,
    help="How many systems write a story on each item.",
)
@click.option(
    "--icc",
    type=float,
    metavar="X",
    show_default=str(_ICC),
    help="How far raters agree: ICC(1,1), the reliability of a single rating.",
)
@click.option(
    "--sd",
    type=float,
    metavar="X",
    show_default="1",
    help="Standard deviation of a single rating.",
)
@click.option(
    "--from",
    "source",
    metavar="SOURCE",
    shell_complete=complete_sources,
    help="Data set or table whose ratings tell ICC and standard deviation.",
)
@path_option()
@PARTIAL
@GOLD
@COLUMN
@form_options
@click.option("-a", "--aspect", metavar="NAME", help="Aspect of the ratings in --from to plan for.")
@click.option(
    "--half-width",
    type=float,
    metavar="X",
    help="Say what it takes for an interval of plus or minus this.",
)
@click.option(
    "--power",
    type=float,
    metavar="X",
    default=0.8,
    show_default=True,
    help="Say what it takes to find the effect in this share of studies.",
)
@alpha_option(type=float)
@click.option(
    "--studies",
    type=click.IntRange(100),
    metavar="N",
    default=2000,
    show_default=True,
    help="How many studies are simulated for each number of items and raters.",
)
@seed_option()
@PAPER_FORMAT
@_gather_options
def command(
    *,
    design: Design,
    wish: Wish,
    known: _Known,
    effect: str | None,
    correlation: float | None,
    versus: float | None,
    between: float | None,
    form: str,
) -> None:
    """Say how many items and raters a study needs, by simulation.

    Either --effect, a difference of two systems' means in points of the scale (or in standard
    deviations of one rating: 0.2sd), or --correlation of a metric, perhaps --versus another's.
    How much raters agree comes --from a data set or table, or from --icc and --sd.
    """
    from fabula.reports.plan import render_plan

    if (effect is None) == (correlation is None):
        raise SettingError("one effect is wanted", "give --effect or --correlation")
    if known.source and not (known.icc is None and known.sd is None):
        raise SettingError("--from tells ICC and spread itself", "leave out --icc and --sd")
    if correlation is None and (versus is not None or between is not None):
        raise SettingError("--versus and --between go with --correlation", "leave them out")
    if effect is not None:
        plan = _plan_difference(effect, design, wish, known)
    else:
        assert correlation is not None
        others = {"versus": versus, "between": between}
        plan = _plan_correlation(correlation, design, wish, known, **others)
    echo(render_plan(form, plan))


def parse_numbers(name: str, text: str) -> tuple[int, ...]:
    """Read whole numbers parted by commas."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise SettingError(f"--{name} {text!r} will not do", "write 50,100,200") from None


def _plan_correlation(
    correlation: float,
    design: Design,
    wish: Wish,
    known: _Known,
    **others: float | None,
) -> Plan:
    from fabula.meta.plans.correlation import plan_correlation

    return plan_correlation(correlation, design, icc=known.one_rating_icc(), wish=wish, **others)


def _plan_difference(effect: str, design: Design, wish: Wish, known: _Known) -> Plan:
    from fabula.meta.plans.difference import plan_difference
    from fabula.meta.raters.components import Components, estimate_components

    if known.source:
        components = estimate_components(*known.ratings())
    else:
        sd = 1.0 if known.sd is None else known.sd
        components = Components.of_icc(known.one_rating_icc(), sd)
    in_sd = effect.endswith("sd")
    try:
        size = float(effect.removesuffix("sd"))
    except ValueError:
        raise SettingError(f"--effect {effect!r} will not do", "write 0.2 or 0.2sd") from None
    size *= components.sd if in_sd else 1.0
    return plan_difference(size, design, components=components, wish=wish)
