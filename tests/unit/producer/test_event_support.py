from pathlib import Path

import pytest

from docmill_services.producer.event_support import without_events

TABLE = b"""22 1 0:21 / / rw,relatime - ext4 /dev/vda rw
30 22 0:40 / /srv/share rw,relatime shared:5 - nfs4 server:/share rw
31 22 0:41 / /srv/with\\040blank rw - cifs //server/share rw
32 30 0:42 / /srv/share/local rw - xfs /dev/vdb rw
33 22 0:43 / /mnt/c rw,noatime - 9p drvfs rw
nothing
"""


@pytest.mark.parametrize(
    ("folders", "kind"),
    [
        ([b"/srv/share/docs"], "nfs4"),
        ([b"/srv/share"], "nfs4"),
        ([b"/srv/shared"], None),
        ([b"/srv/share/local/docs"], None),
        ([b"/srv/with blank/x"], "cifs"),
        ([b"/home", b"/mnt/c/Users"], "9p"),
        ([b"/home"], None),
        ([], None),
    ],
)
def test_a_share_of_another_machine_reports_not_every_change(folders: list[bytes], kind: str | None) -> None:
    assert without_events(folders, TABLE) == kind


def test_the_table_of_this_system_can_be_read(tmp_path: Path) -> None:
    without_events([bytes(tmp_path)])
