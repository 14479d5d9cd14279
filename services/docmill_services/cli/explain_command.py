"""``docmill explain``: why a file is found, or is not."""

import os
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from docmill.documents.identity import document_id_of
from docmill.documents.selection import Selection, Verdict
from docmill.domain.errors import DocumentUnknown, ExitCode, SkipReason
from docmill_services.cli.api import ApiError, open_api
from docmill_services.cli.finding import configuration_of, knowledge_base_meant, origin_to_ask, path_meant
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir, KnowledgeBaseName, named_path
from docmill_services.cli.output import out, print_json


def explain(
    path: Annotated[Path, typer.Argument(parser=named_path, metavar="PATH", help="A file.")],
    kb: KnowledgeBaseName = None,
    config: Config = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> int:
    """Say whether a file is indexed, with its chunks, or why it is not, with the rule that decided."""
    origin = origin_to_ask(config, data_dir)
    configuration = configuration_of(origin)
    specification = knowledge_base_meant(configuration, kb)
    absolute = path_meant(path, specification.base_folder)
    verdict = Selection(specification, data_dir.absolute()).verdict(absolute)
    document_id = document_id_of(absolute, specification.base_folder)
    if verdict.selected:
        with open_api(origin, data_dir) as api:
            try:
                known = api.get(f"/v1/knowledge-bases/{specification.name}/documents/{quote(document_id, safe='')}")
            except ApiError as error:
                if error.code != DocumentUnknown.code:
                    raise
                known = None
        answer = _of_document(document_id, known, exists=os.path.lexists(absolute))
    elif _ignored(verdict) and not os.path.lexists(absolute):
        answer = _of_document(document_id, None, exists=False)
    else:
        answer = _of_verdict(document_id, verdict)
    if as_json:
        print_json(answer)
    else:
        _show(answer)
    return ExitCode.OK if answer["state"] in ("live", "empty", "pending") else ExitCode.FINDINGS


def _ignored(verdict: Verdict) -> bool:
    return verdict.refusal is not None and verdict.refusal.reason is SkipReason.IGNORED


def _of_verdict(document_id: str, verdict: Verdict) -> dict[str, Any]:
    answer: dict[str, Any] = {"document_id": document_id, "state": "skipped"}
    refusal = verdict.refusal
    if refusal is not None:
        answer["reason"] = f"{refusal.reason}: {refusal.detail}"
        if refusal.rule is not None:
            answer["rule"] = {"file": refusal.rule.file, "line": refusal.rule.line, "pattern": refusal.rule.pattern}
    return answer | {"strategies": {}}


def _of_document(document_id: str, known: dict[str, Any] | None, *, exists: bool) -> dict[str, Any]:
    if known is None:
        reason = "not indexed yet: the next scan takes it up" if exists else "there is no such file"
        return {"document_id": document_id, "state": "unknown", "reason": reason, "strategies": {}}
    answer: dict[str, Any] = {"document_id": document_id, "state": known["state"], "stale": known["stale"]}
    if known.get("reason"):
        answer["reason"] = known["reason"]
    return answer | {"strategies": known["strategies"]}


def _show(answer: dict[str, Any]) -> None:
    out.print(f"{answer['document_id']}: {answer['state']}", markup=False)
    if answer.get("reason"):
        out.print(f"  {answer['reason']}", markup=False)
    if answer.get("stale"):
        out.print("  the file has changed, or is gone, since it was indexed", markup=False)
    rule = answer.get("rule")
    if rule is not None and rule["file"]:
        out.print(f"  rule {rule['pattern']} in {rule['file']}:{rule['line']}", markup=False)
    for name, strategy in answer["strategies"].items():
        out.print(f"  {name}: {strategy['chunks']} chunks, generation {strategy['generation']}", markup=False)
