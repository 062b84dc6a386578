"""Dockerfile, compose.yaml and the page on deployment, held to the code; nothing is built here."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from fabula.cli import cli

yaml = pytest.importorskip("yaml")
pytest.importorskip("fastapi")

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "studio" / "deployment.md").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
OURS = {name: COMPOSE["services"][name] for name in ("web", "worker")}


def read_dockerfile() -> list[tuple[str, str]]:
    """Instructions in order, each a word and the rest; comments are left out."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    joined = text.replace("\\\n", " ").splitlines()
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in joined if line.strip()]


DOCKERFILE = read_dockerfile()


def find_all(word: str) -> list[str]:
    return [rest for found, rest in DOCKERFILE if found == word]


def list_commands() -> list[list[str]]:
    """Every command line of `fabula` in the three files, as words after `fabula`."""
    found = [json.loads(find_all("CMD")[-1])]
    for service in OURS.values():
        found.append(service["command"])
        found.append(service.get("healthcheck", {}).get("test", ["", ""])[1:])
    # In a block a command stands after the prompt, a word of docker's or a path; in a line of
    # text between ticks.
    blocks = "\n".join(re.findall(r"```\w+\n(.*?)```", PAGE, re.DOTALL))
    prose = re.sub(r"```\w+\n.*?```", "", PAGE, flags=re.DOTALL)
    lines = re.findall(r"(?:^|[ /=])(fabula (?:[a-z].*?))(?: && .*)?$", blocks, re.MULTILINE)
    lines += re.findall(r"`[^`\n]*?\b(fabula [a-z][^`\n]*)`", prose)
    found += [shlex.split(line.replace("$(date +\\%F)", "today")) for line in lines]
    return [words[1:] for words in found if words[:1] == ["fabula"]]


def parse_command(words: list[str]) -> click.Context:
    """Parse a command line to its end, without running it."""
    context = cli.make_context("fabula", list(words))
    command: click.Command = cli
    while isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        name, found, rest = command.resolve_command(context, rest)
        assert found is not None, words
        command, context = found, found.make_context(name, rest, parent=context)
    return context


def test_there_are_as_many_commands_as_one_sees() -> None:
    spelled = {" ".join(words[:2]) for words in list_commands()}
    assert {"serve --host", "worker", "studio status", "studio backup", "studio restore"} <= spelled
    assert {"studio migrate", "studio token", "models pull"} <= spelled
    assert len(list_commands()) >= 14


@pytest.mark.parametrize("words", list_commands(), ids=" ".join)
def test_every_command_line_is_one_of_ours(words: list[str], tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "studio.zip").touch()
    parse_command(words)


def test_a_command_that_is_not_ours_is_found_out() -> None:
    with pytest.raises(click.UsageError):
        parse_command(["serve", "--prot", "8000"])
    with pytest.raises(click.UsageError):
        parse_command(["studio", "backupp", "x.zip"])


def test_extras_that_are_installed_exist() -> None:
    arguments = dict(rest.split("=", 1) for rest in find_all("ARG"))
    assert set(arguments["EXTRAS"].split(",")) <= EXTRAS.keys()
    assert {"web", "models"} <= set(arguments["EXTRAS"].split(","))
    for named in re.findall(r"\.\[([a-z,]+)\]", PAGE):
        assert set(named.split(",")) <= EXTRAS.keys()
    torch = next(each for each in EXTRAS["models"] if each.startswith("torch"))
    assert arguments["TORCH"].strip('"') == torch
    # What compose gives is what the Dockerfile takes.
    assert OURS["web"]["build"]["args"].keys() <= arguments.keys()


def test_what_is_copied_is_there_and_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for rest in find_all("COPY"):
        if rest.startswith("--from"):
            continue
        for name in rest.split()[:-1]:
            assert (ROOT / name).exists(), name
            assert f"!{name}" in ignored


def test_nobody_is_root_and_nothing_but_the_data_is_written() -> None:
    users = find_all("USER")
    assert users and users[-1].split(":")[0] not in ("0", "root")
    order = [word for word, _ in DOCKERFILE]
    assert order.index("USER") < order.index("CMD")
    for service in OURS.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        assert "user" not in service and "privileged" not in service
    assert json.loads(find_all("VOLUME")[0]) == ["/data"]
    assert "FABULA_HOME=/data" in " ".join(find_all("ENV"))


def test_health_is_asked_where_the_app_answers() -> None:
    from fabula.web.health import router

    paths = {route.path for route in router.routes}
    probe = find_all("HEALTHCHECK")[0]
    port = find_all("EXPOSE")[0]
    assert f"http://127.0.0.1:{port}/readyz" in probe
    assert {"/readyz", "/metrics", "/healthz"} <= paths
    program = json.loads(probe.split("CMD", 1)[1])
    compile(program[2], "HEALTHCHECK", "exec")


def test_the_port_is_the_same_everywhere_and_not_open_to_others() -> None:
    port = int(find_all("EXPOSE")[0])
    for words in (json.loads(find_all("CMD")[-1]), OURS["web"]["command"]):
        context = parse_command(words[1:])
        assert context.params["port"] == port
        assert context.params["host"] == "0.0.0.0"
    assert OURS["web"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert f"proxy_pass http://127.0.0.1:{port};" in PAGE


def test_services_are_wired() -> None:
    services = COMPOSE["services"]
    assert services.keys() == {"web", "worker", "postgres"}
    assert OURS["web"]["image"] == OURS["worker"]["image"]
    assert "--no-worker" in OURS["web"]["command"]
    assert OURS["web"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert OURS["worker"]["depends_on"] == {"web": {"condition": "service_healthy"}}
    for service in services.values():
        named = [volume.split(":")[0] for volume in service["volumes"]]
        assert set(named) <= COMPOSE["volumes"].keys()
        # A name without a host: where it comes from is for who builds it.
        assert "/" not in service["image"]


def test_the_database_is_the_one_that_compose_makes() -> None:
    from fabula.studio.database import VARIABLE, open_studio

    made = COMPOSE["services"]["postgres"]["environment"]
    for service in OURS.values():
        studio = open_studio(service["environment"][VARIABLE])
        url = studio.engine.url
        studio.close()
        assert (url.username, url.host, url.database) == (
            made["POSTGRES_USER"], "postgres", made["POSTGRES_DB"],
        )  # fmt: skip


def test_settings_exist_and_no_secret_is_in_the_files() -> None:
    from fabula.studio.database import VARIABLE
    from fabula.web import settings

    # Those of PostgreSQL's driver and of torch are not ours to read.
    known = {VARIABLE, "PGPASSWORD", "OMP_WAIT_POLICY"}
    read = Path(settings.__file__).read_text(encoding="utf-8")
    for service in OURS.values():
        for name in service["environment"]:
            assert name in known or f'"{name}"' in read, name
    secrets = [OURS["web"]["environment"]["PGPASSWORD"]]
    secrets.append(COMPOSE["services"]["postgres"]["environment"]["POSTGRES_PASSWORD"])
    for value in secrets:
        assert value.startswith("${FABULA_DATABASE_PASSWORD:?")
    # What a file `.env` may set is on the page.
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    for name in set(re.findall(r"\$\{(\w+)", text)):
        assert f"`{name}`" in PAGE, name
