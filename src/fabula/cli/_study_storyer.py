"""`fabula study run` of a file with `kind = "storyer"`: StoR3's analyses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fabula.core.errors import UserError


def run_storyer(file: Path, output: Path | None, options: dict[str, Any]) -> None:
    """Run the analyses of a study file; write the report into a folder, or print it."""
    from fabula.replication.storyer import (
        Material,
        chosen_analyses,
        read_storyer_study,
        run_analyses,
    )
    from fabula.replication.storyer.report import analyses_text, write_analyses

    study = read_storyer_study(file)
    if options["only"]:
        study = chosen_analyses(study, options["only"])
    material = Material(options["data"], study.seed, study.resamples, _reporter(options["quiet"]))
    findings = list(run_analyses(study, material))
    if all(one.needs for one in findings):
        raise UserError(f"no analysis could be run: {findings[0].needs}", "see the lines above")
    if output is None:
        click.echo(analyses_text(findings))
    else:
        click.echo(analyses_text(findings), err=True)
        click.echo(write_analyses(study, findings, output))


def _reporter(quiet: bool) -> Any:
    return (lambda line: None) if quiet else (lambda line: click.echo(line, err=True))
