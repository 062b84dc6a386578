from __future__ import annotations

import base64
import hashlib

from fabula.reports.pages import bundle_scripts, content_policy, fill_template


def test_a_template_is_filled_once() -> None:
    assert fill_template("{{a}} {{b}}", {"a": "{{b}}", "b": "x"}) == "{{b}} x"


def test_a_policy_lets_one_script_run_and_nothing_else() -> None:
    script = bundle_scripts(["page.js"])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert content_policy(script).startswith(f"default-src 'none'; script-src 'sha256-{digest}';")
