"""``docmill approve-removals``: lets removals that wait be carried out."""

from docmill.domain.errors import ExitCode
from docmill_services.cli.api import open_api
from docmill_services.cli.finding import configuration_of, knowledge_base_meant, origin_to_ask
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir, KnowledgeBaseName
from docmill_services.cli.output import counted, out, print_json


def approve_removals(
    kb: KnowledgeBaseName = None, config: Config = None, data_dir: DataDir = DEFAULT_DATA_DIR, as_json: AsJson = False
) -> int:
    """Remove what is missing and was kept, since so much went at once: now, or when docmill is started next."""
    origin = origin_to_ask(config, data_dir)
    configuration = configuration_of(origin)
    meant = configuration.knowledge_bases if kb is None else (knowledge_base_meant(configuration, kb),)
    with open_api(origin, data_dir) as api:
        found = {one.name: api.post(f"/v1/knowledge-bases/{one.name}/approve-removals", {}) for one in meant}
    if as_json:
        print_json(found)
    else:
        for name, reply in found.items():
            count = reply["documents"]
            out.print(f"{name}: {counted(count, 'document') + ' will be removed' if count else 'no removal waits'}", markup=False)
    return ExitCode.OK
