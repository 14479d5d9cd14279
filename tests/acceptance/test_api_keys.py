"""``docmill keys``: the first key closes the service to all others, and commands of this machine go on."""

import json
from pathlib import Path

import httpx

from support.running_docmill import RunningDocmill, docmill, write_configuration
from support.waiting import wait_until


def test_keys_are_made_listed_and_revoked_beside_a_running_docmill(tmp_path: Path) -> None:
    docs, data = tmp_path / "docs", tmp_path / "data"
    docs.mkdir()
    (docs / "guide.md").write_text("one apple and a pear\n")
    configuration = write_configuration(tmp_path / "docmill.yaml", docs)
    with RunningDocmill(configuration, data) as running:
        running.wait_until_indexed()
        url = f"{running.url}/v1/knowledge-bases"
        made = docmill("keys", "create", "agent", "--kb", "kb", "--expires", "24h", "--data-dir", data)
        assert made.returncode == 0
        key = made.stdout.strip()
        assert key.startswith("dm_")
        wait_until(lambda: httpx.get(url).status_code == 401, "the key to be known", 15)
        assert httpx.get(url, headers={"Authorization": f"Bearer {key}"}).status_code == 200
        assert docmill("search", "pear", "--data-dir", data).returncode == 0
        (listed,) = json.loads(docmill("keys", "list", "--json", "--data-dir", data).stdout)["keys"]
        assert (listed["name"], listed["right"], listed["knowledge_bases"]) == ("agent", "read", ["kb"])
        assert key not in docmill("keys", "list", "--data-dir", data).stdout
        assert docmill("keys", "revoke", listed["id"], "--data-dir", data).returncode == 0
        wait_until(lambda: httpx.get(url).status_code == 200, "the last key to be forgotten", 15)
        unknown = docmill("keys", "revoke", "nothing", "--data-dir", data)
        assert (unknown.returncode, "no key 'nothing'" in unknown.stderr) == (1, True)
        wrong = docmill("keys", "create", "x", "--expires", "tomorrow", "--data-dir", data)
        assert wrong.returncode == 2
    assert docmill("keys", "list", "--data-dir", data).returncode == 0
