"""Runs at the start of every Python process that has this folder on its path: there some contents kill whoever loads them.

Only tests put it on the path, by ``support.deadly_contents``, which says what there is.
"""

import os
import signal
import time


def plant() -> None:
    from docmill.documents import loading

    load = loading.load

    def deadly_load(document_id: str, content: bytes) -> object:
        if b"KILLS-WHOEVER-LOADS-THIS" in content or content == b"this content ends its process":
            os.kill(os.getpid(), signal.SIGKILL)
        if b"LEAVES-WITH-SEVEN" in content:
            os._exit(7)
        if b"FORGETS-NOTHING" in content:
            kept = [b"x" * (1 << 40)]
            raise AssertionError(len(kept))
        if b"HOLDS-UP-WHOEVER-LOADS-THIS" in content:
            time.sleep(3600)
        if b"PRINTS-WHAT-NOBODY-ASKED-FOR" in content:
            os.write(1, b"printed")
            os.write(2, b"printed")
        return load(document_id, content)

    loading.load = deadly_load


plant()

if "DOCMILL_TEST_FAULT" in os.environ:
    import fault_points

    fault_points.plant()
