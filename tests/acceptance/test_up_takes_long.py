"""A run that takes longer than it may ends, and ``docmill up`` goes on with what it left."""

from pathlib import Path

from support.changing_folder import ChangingFolder
from support.running_docmill import RunningDocmill, write_configuration


def test_up_follows_the_run_that_goes_on_after_one_that_took_too_long(tmp_path: Path) -> None:
    notes = ChangingFolder(tmp_path / "notes", 1, 600)
    configuration = write_configuration(tmp_path / "docmill.yaml", notes.folder, size=200, more="indexing_timeout: 1s")
    with RunningDocmill(configuration, tmp_path / "data") as running:
        running.wait_until(lambda: "kb: complete in" in running.said, "the run that completes")
        assert "run_took_too_long" in running.said
        assert "kb: timed out" not in running.said
        assert running.status()["documents"]["live"] > 500
