"""`fabula author`, as it is typed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from fabula.authors import find_needs, load_author
from fabula.cli import cli
from fabula.core.author import Decoding
from fabula.core.errors import InputError, SettingError, UnknownName, UserError
from fabula.text.context.segments import prompt_context
from fakes.author_contract import make_request, write

COMMAND = (sys.executable, "-c", "from fabula.cli import main; main()")
# It could not even be imported before its packages are there.
PLUGIN = '''"""A parrot that writes.

And more."""

import no_such_package

REQUIRES: tuple[str, ...] = ({packages})


def load(name, *, loud: bool = False):
    return no_such_package.Parrot(name)
'''


def run(*words):
    return CliRunner().invoke(cli, words)


@pytest.fixture
def plug_in(tmp_path, environment):
    """Write what an installed package leaves behind; gives the environment that finds it."""

    def write_plugin(packages='"no-such-package>=2",'):
        site = tmp_path / "site"
        info = site / "fabula_parrot-1.0.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (site / "parrot.py").write_text(PLUGIN.replace("{packages}", packages))
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fabula-parrot\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[fabula.authors]\nparrot = parrot\n")
        paths = [str(site), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        return environment

    return write_plugin


def test_the_list_says_what_each_needs_and_whether_it_can_write():
    rows = {row["name"]: row for row in json.loads(run("author", "list", "-f", "json").output)}
    assert {"api", "embedded", "huggingface", "lorem", "remote"} <= rows.keys()
    assert rows["lorem"] | {"about": ""} == {
        "name": "lorem",
        "about": "",
        "needs": [],
        "writes_here": "yes",
        "helps": "",
    }
    assert rows["api"]["needs"] == ["model", "base_url"]
    assert "smollm2" in rows["embedded"]["needs"]


def test_an_asset_that_is_not_here_is_named_with_what_gets_it(tmp_path, monkeypatch):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    needs = find_needs("embedded")
    if needs.missing:
        pytest.skip("its packages are not here")
    assert re.search(r"smollm2.*fabula models pull", needs.find_obstacle("embedded"))


def test_showing_one_names_its_settings_and_its_signature():
    shown = run("author", "show", "lorem(words=9)").output
    assert "words" in shown and "a whole number at least 1; 60 unless told" in shown
    assert "signature of lorem(words=9): lorem,words=9,revision=1" in shown
    assert "remote needs url" in run("author", "show", "remote").output
    assert isinstance(run("author", "show", "nobody").exception, UnknownName)


def test_a_try_prints_what_the_co_author_writes():
    context = prompt_context("A sea.", "Ida ran", story="try")
    asked = make_request(wanted="words=-30", context=context, decoding=Decoding(), seed=4)
    text = write(load_author("lorem"), asked)["r"].text
    words = ["--prompt", "A sea.", "--text", "Ida ran", "--wanted", "words=-30"]
    assert run("author", "try", "lorem", *words, "--seed", "4").output == f"{text.strip()}\n"
    shorter = run("author", "try", "lorem", *words, "--decoding", "max_sentences=1").output
    assert len(re.findall(r"[.]", shorter)) == 1


def test_a_try_that_fails_is_one_line():
    failed = run("author", "try", "lorem(fail=1)", "--prompt", "x")
    assert isinstance(failed.exception, UserError)
    assert "told to fail" in str(failed.exception)
    assert isinstance(run("author", "try", "lorem").exception, SettingError)


def test_a_co_author_is_offered_and_can_be_used_from_elsewhere(environment):
    words = [*COMMAND, "author", "serve", "lorem", "--port", "0"]
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            line = server.stderr.readline()
            url = re.search(r"http://127\.0\.0\.1:\d+", line)[0]
            done = run("author", "try", f"remote('{url}')", "--prompt", "A sea.", "--text", "Ida")
            assert done.exit_code == 0, done.output
            here = run("author", "try", "lorem", "--prompt", "A sea.", "--text", "Ida")
            # Of more words than a chunk has, the first chunk is the same.
            assert done.output.split()[:10] == here.output.split()[:10]
        finally:
            server.send_signal(signal.SIGINT)
        assert server.wait(10) in (0, 130)


def test_what_cannot_start_is_not_offered():
    poor = run("author", "serve", "api('x', base_url='http://127.0.0.1:9')", "--port", "0")
    assert "no server listens at 127.0.0.1:9" in str(poor.exception)


def test_a_plug_in_is_listed_before_its_packages_are_there(plug_in):
    environment = plug_in()
    words = [*COMMAND, "author", "list", "-f", "json"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    row = {row["name"]: row for row in json.loads(done.stdout)}["parrot"]
    assert row["about"] == "A parrot that writes."
    assert row["needs"] == ["name", "no-such-package>=2"]
    assert row["writes_here"] == "no"
    assert row["helps"].endswith("author install parrot")


def test_installing_prints_the_command_and_runs_it_only_when_asked(plug_in):
    environment = plug_in()
    words = [*COMMAND, "author", "install", "parrot"]
    done = subprocess.run(
        [*words, "--dry-run"], env=environment, capture_output=True, text=True, check=True
    )
    assert re.search(r"pip.* install .*'no-such-package>=2'\n$", done.stdout)
    offline = environment | {"FABULA_OFFLINE": "1"}
    refused = subprocess.run(words, env=offline, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "FABULA_OFFLINE is set" in refused.stderr
    assert "no-such-package" in refused.stdout


@pytest.mark.parametrize(
    "package", ["--index-url=https://example.org", "-r x", "../x", "x @ https://example.org/x.whl"]
)
def test_what_is_no_name_of_a_package_is_not_given_to_pip(plug_in, package):
    environment = plug_in(f'"{package}",')
    words = [*COMMAND, "author", "install", "parrot"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "which is no package's name" in done.stderr


def test_what_is_all_there_is_not_installed(monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("nothing to install"))
    assert run("author", "install", "lorem").exit_code == 0
    with pytest.raises((UnknownName, InputError)):
        find_needs("nobody")
