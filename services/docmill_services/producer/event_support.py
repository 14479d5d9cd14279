"""Which file systems do not report the changes that other machines make."""

# Paths are bytes here, which pathlib does not take.

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mountinfo")
#: Shares of other machines, and of a machine that this one runs in.
_SHARED: Final = re.compile(r"nfs4?|cifs|smb3|smbfs|9p|virtiofs|vboxsf|vmhgfs|fuse\.(?:vmhgfs-fuse|sshfs|glusterfs)|prl_fs|afs|ceph")
_OCTAL: Final = re.compile(rb"\\([0-7]{3})")


def without_events(folders: Iterable[bytes], mounts: bytes | None = None) -> str | None:
    """The type of the file system that one of ``folders`` lies on, if it does not report what other
    machines change; None where every change is reported.

    Args:
        folders: absolute.
        mounts: the table of mounts as Linux writes it (proc_pid_mountinfo(5)); the system's own when None.
    """
    if mounts is None:
        try:
            mounts = _MOUNTS.read_bytes()
        except OSError:
            return None  # another system: its own interface watches what it mounts
    types = dict(_mounted(mounts))
    for folder in folders:
        place = os.path.realpath(folder)
        while place not in types and place != b"/":
            place = os.path.dirname(place)
        kind = types.get(place, "")
        if _SHARED.fullmatch(kind):
            return kind
    return None


def _mounted(mounts: bytes) -> Iterable[tuple[bytes, str]]:
    """Where something is mounted, and of which type it is; what was mounted last covers what was there."""
    for line in mounts.splitlines():
        before, separator, after = line.partition(b" - ")
        fields = before.split(b" ")
        if separator and len(fields) > 4:
            yield _OCTAL.sub(lambda match: bytes([int(match[1], 8)]), fields[4]), after.split(b" ")[0].decode("ascii", "replace")
