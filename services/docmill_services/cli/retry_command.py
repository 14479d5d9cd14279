"""``docmill retry``: tries again what failed or was quarantined."""

from pathlib import Path
from typing import Annotated, Any

import typer

from docmill.documents.identity import document_id_of
from docmill.domain.errors import ExitCode
from docmill_services.cli.api import open_api
from docmill_services.cli.finding import configuration_of, knowledge_base_meant, origin_to_ask, path_meant
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir, KnowledgeBaseName, named_path
from docmill_services.cli.output import out, print_json


def retry(
    path: Annotated[
        Path | None, typer.Argument(parser=named_path, metavar="PATH", help="A file; every failed and quarantined one when left out.")
    ] = None,
    kb: KnowledgeBaseName = None,
    config: Config = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> int:
    """Try failed and quarantined files again: now, or when docmill is started next."""
    origin = origin_to_ask(config, data_dir)
    configuration = configuration_of(origin)
    body: dict[str, Any] = {}
    everywhere = path is None and kb is None
    meant = configuration.knowledge_bases if everywhere else (knowledge_base_meant(configuration, kb),)
    if path is not None:
        (specification,) = meant
        body = {"document_ids": [document_id_of(path_meant(path, specification.base_folder), specification.base_folder)]}
    with open_api(origin, data_dir) as api:
        found = {one.name: api.post(f"/v1/knowledge-bases/{one.name}/retry", body) for one in meant}
    if as_json:
        print_json(found)
    else:
        for name, reply in found.items():
            out.print(f"{name}: {_sentence(reply['documents'])}", markup=False)
    return ExitCode.OK


def _sentence(documents: int) -> str:
    if not documents:
        return "nothing to try again: no such file failed or is quarantined"
    return f"{documents} {'file is' if documents == 1 else 'files are'} tried again"
