from __future__ import annotations

import base64
import hashlib

from fabula.reports.pages import filled, one_script, policy


def test_a_template_is_filled_once() -> None:
    assert filled("{{a}} {{b}}", {"a": "{{b}}", "b": "x"}) == "{{b}} x"


def test_a_policy_lets_one_script_run_and_nothing_else() -> None:
    script = one_script(["page.js"])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy(script).startswith(f"default-src 'none'; script-src 'sha256-{digest}';")
