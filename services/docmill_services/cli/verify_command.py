"""``docmill verify``: whether the index equals the files, and what differs."""

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import typer

from docmill.bootstrap import Engine, Owner
from docmill.config.settings import Settings
from docmill.domain.errors import ExitCode
from docmill.domain.verification import FindingKind
from docmill.indexing.verifying import Patience
from docmill_services.cli.api import Api, RunningService, client_of, url_or_engine
from docmill_services.cli.finding import configuration_of, knowledge_base_meant, origin_to_ask
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir, KnowledgeBaseName
from docmill_services.cli.output import out, print_json, say
from docmill_services.cli.progress import follow
from docmill_services.cli.stopping import stop_signal
from docmill_services.embedded import EmbeddedService, end_interrupted_runs
from docmill_services.origin import Origin
from docmill_services.query.render import verification_reply
from docmill_services.verification import verify_knowledge_base

#: A comparison reads every file.
_TIMEOUT_SECONDS: Final = 3600.0


def verify(
    repair: Annotated[bool, typer.Option("--repair", help="Index again or remove what is wrong.")] = False,
    kb: KnowledgeBaseName = None,
    config: Config = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> int:
    """Compare every file with the registry and the stores, in both directions, and say what differs.

    Beside running processes it waits up to half a minute for documents that are being worked on. A repair starts the ordinary work; a
    second verify shows what came of it.
    """
    origin = origin_to_ask(config, data_dir)
    configuration = configuration_of(origin)
    names = [one.name for one in configuration.knowledge_bases] if kb is None else [knowledge_base_meant(configuration, kb).name]
    settings = Settings.from_environment(os.environ)
    opened = url_or_engine(origin, data_dir, settings)
    if isinstance(opened, RunningService):
        with client_of(opened.url, opened.key, timeout_seconds=_TIMEOUT_SECONDS) as client:
            api = Api(client)
            replies = {name: api.post(f"/v1/knowledge-bases/{name}/verify", {"repair": repair}) for name in names}
    else:
        try:
            replies = _verify_here(opened, origin, names, repair=repair)
        finally:
            opened.close()
    result = _together(replies)
    if as_json:
        print_json(result)
    else:
        _show(result)
    if any(finding["kind"] == FindingKind.STORE for finding in result["findings"]):
        return ExitCode.SERVICE_DOWN
    return ExitCode.OK if result["ok"] else ExitCode.FINDINGS


def _verify_here(engine: Engine, origin: Origin, names: Sequence[str], *, repair: bool) -> dict[str, Any]:
    alone = engine if isinstance(engine, Owner) and engine.is_alone else None
    if alone is not None:
        end_interrupted_runs(alone)
    patience = None if engine.is_alone else Patience()
    replies: dict[str, Any] = {}
    for name in names:
        found = verify_knowledge_base(engine, engine.knowledge_base(name), repair=repair, patience=patience)
        replies[name] = verification_reply(found).model_dump(mode="json")
    if repair and alone is not None and not all(reply["ok"] for reply in replies.values()):
        _work_off(alone, origin)
    return replies


def _work_off(engine: Owner, origin: Origin) -> None:
    """Does what a repair has planned, since no other process does."""
    service = EmbeddedService(engine, origin, watch=False, log_level="warning")
    try:
        with stop_signal() as stopping:
            service.start(None, 0)
            follow(service.runs_now, stopping.wait, service.check_progress)
            service.finish(stopping)
    finally:
        service.stop()


def _together(replies: Mapping[str, Any]) -> dict[str, Any]:
    """One result over all knowledge bases; where there are several, each finding names its own."""
    several = len(replies) > 1
    return {
        "ok": all(reply["ok"] for reply in replies.values()),
        "documents": sum(reply["documents"] for reply in replies.values()),
        "findings": [
            finding | ({"knowledge_base": name} if several else {}) for name, reply in replies.items() for finding in reply["findings"]
        ],
        "pending": sum(reply["pending"] for reply in replies.values()),
    }


def _show(result: Mapping[str, Any]) -> None:
    for finding in result["findings"]:
        what = finding["document_id"] or finding["store"]
        where = f" ({finding['knowledge_base']})" if "knowledge_base" in finding else ""
        out.print(f"{finding['kind']:<8}{what}{where}: {finding['detail']}", markup=False)
    if result["pending"]:
        say(f"{result['pending']} documents are still being worked on, and were not judged")
    count = len(result["findings"])
    say(f"{result['documents']} documents compared: {f'{count} findings' if count else 'nothing differs'}")
