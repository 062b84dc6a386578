"""The real command, with a database of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from cli.conftest import COMMAND
from fabula.cli import cli
from fabula.core.errors import UserError


def find_free_port():
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


@contextmanager
def running(environment, *words):
    """A studio that answers, and what it says."""
    port = find_free_port()
    with subprocess.Popen(
        [*COMMAND, "serve", "--port", str(port), *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            for _ in range(300):
                try:
                    get(f"http://127.0.0.1:{port}/healthz")
                    break
                except urllib.error.URLError:
                    assert child.poll() is None, child.stderr.read()
                    time.sleep(0.1)
            yield child, f"http://127.0.0.1:{port}"
        finally:
            child.kill()


def end(child, number=signal.SIGTERM):
    child.send_signal(number)
    out, err = child.communicate(timeout=30)
    return child.returncode, out, err


def is_listening(home):
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", int(home.rpartition(":")[2]))) == 0


def is_alive(process_id):
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_command_is_a_whole_studio_and_ends_in_good_order(environment):
    with running(environment) as (child, home):
        assert json.loads(get(f"{home}/readyz"))["ready"] is True
        assert "Fabula Studio" in get(f"{home}/")
        code, out, err = end(child)
    assert code == 0
    assert f"The studio is at {home}" in err
    assert "co-author `embedded` is on offer" in err
    assert "Traceback" not in err
    worker = int(re.search(r"worker \S+:(\d+) has started", err)[1])
    assert "lorem" not in err
    assert not is_alive(worker)
    # The link is the only thing on stdout, and works.
    assert re.fullmatch(rf"  {home}/account/link/[\w-]{{43}}\n", out)


def test_the_first_link_is_printed_until_somebody_is_there(environment):
    with running(environment, "--no-worker") as (child, home):
        link = child.stdout.readline().strip()
        assert "<form" in get(link)
        form = b"name=ann&password=three+words+apart"
        request = urllib.request.Request(link, form, {"Origin": home})
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert "Fabula Studio" in answer.read().decode()
        assert end(child, signal.SIGINT)[0] == 0
    with running(environment, "--no-worker", "--workers", "2") as (child, home):
        assert json.loads(get(f"{home}/readyz"))["ready"] is True
        for _ in range(5):
            get(f"{home}/healthz")
        counted = re.findall(r'route="/healthz",status="200"} ([0-9.]+)', get(f"{home}/metrics"))
        _, out, _ = end(child, signal.SIGKILL)
        # Nobody goes on listening where the studio was.
        for _ in range(100):
            if not is_listening(home):
                break
            time.sleep(0.1)
        assert not is_listening(home)
    assert out == ""
    # Both processes count together, whichever is asked: ours, and those of the start.
    assert sum(map(float, counted)) >= 6


def refuse(*words):
    """What is said when a studio cannot be opened, on one line."""
    with pytest.raises(UserError) as refused:
        CliRunner().invoke(cli, ["serve", *map(str, words)], catch_exceptions=False)
    return str(refused.value)


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    monkeypatch.delenv("FABULA_DATABASE_URL", raising=False)
    yield tmp_path
    assert not (tmp_path / "studio.sqlite").exists()


def test_a_port_that_is_taken_is_said_with_another(own_home):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refuse("--port", port)
    assert f"port {port} is taken" in said
    assert f"--port {port + 1}" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "no.such.host.example"], "is no address"),
        (["--host", "203.0.113.1"], "no address of this machine"),
        (["--database", "mysql://host/name"], "not supported"),
        (["--database", "nonsense"], "no address of a database"),
    ],
)
def test_what_cannot_be_opened_is_one_line(own_home, monkeypatch, words, said):
    monkeypatch.setenv("FABULA_DATABASE_URL", "")
    assert said in refuse("--port", "0", *words)


def test_a_bad_setting_is_named_before_anything_is_made(own_home, monkeypatch):
    monkeypatch.setenv("FABULA_RATE_PERSON", "often")
    assert "FABULA_RATE_PERSON" in refuse("--port", "0")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "0.0.0.0"], "--local is for this machine alone"),
        (["--host", "192.168.1.5"], "--local is for this machine alone"),
    ],
)
def test_without_a_password_it_is_for_this_machine_alone(own_home, words, said):
    assert said in refuse("--local", "--port", "0", *words)


def test_a_local_studio_refuses_the_settings_of_a_public_one(own_home, monkeypatch):
    monkeypatch.setenv("FABULA_LOCAL", "")
    monkeypatch.setenv("FABULA_PUBLIC_URL", "https://studio.example.org")
    assert "FABULA_PUBLIC_URL" in refuse("--local", "--port", "0")


def test_a_local_studio_opens_at_once_and_asks_for_a_link_before_others_come(environment):
    page = {"Accept": "text/html"}
    with running(environment, "--local", "--no-worker", "--workers", "2") as (child, home):
        request = urllib.request.Request(f"{home}/account", headers=page)
        with urllib.request.urlopen(request, timeout=10) as answer:
            cookie = answer.headers["Set-Cookie"].partition(";")[0]
            assert answer.url == f"{home}/account"
        code, out, err = end(child)
    assert (code, out) == (0, "")
    assert "without a password" in err
    with running(environment, "--no-worker") as (child, home):
        request = urllib.request.Request(f"{home}/api/v1/me", headers=page | {"Cookie": cookie})
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(request, timeout=10)
        _, out, err = end(child)
    assert out == ""
    assert "studio user link" in err


@pytest.mark.parametrize("words", [["serve", "--local"], ["worker"]])
def test_without_its_packages_the_studio_says_what_to_install(own_home, monkeypatch, words):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "uvicorn" else found(name)
    )
    with pytest.raises(UserError, match=r"uvicorn is not installed; run: .*web"):
        CliRunner().invoke(cli, words, catch_exceptions=False)
