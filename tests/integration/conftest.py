"""What tests of a running docmill share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from docmill.adapters.embedded.data_folder import DataFolder
from support.http_service import Service, running_service


@pytest.fixture
def service() -> Iterator[Service]:
    with running_service() as running:
        yield running


@pytest.fixture
def beside_the_service(tmp_path: Path, service: Service) -> Iterator[Path]:
    """A data folder whose holder answers at the service's address."""
    with DataFolder.open(tmp_path / "data") as data_folder:
        data_folder.announce(service.server.url)
        yield data_folder.path
