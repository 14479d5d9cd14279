"""``docmill ask``."""

from typing import Annotated, Any

import typer

from docmill.domain.errors import ExitCode, ServiceDown
from docmill_services.cli.api import open_api
from docmill_services.cli.finding import configuration_of, knowledge_base_meant, origin_to_ask
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir, KnowledgeBaseName
from docmill_services.cli.output import out, print_json, printable, say, valid_text


def ask(
    question: Annotated[str, typer.Argument(help="A question, in any language; the answer comes in the same.")],
    kb: KnowledgeBaseName = None,
    path: Annotated[str | None, typer.Option(help="Only documents whose path matches this glob.")] = None,
    config: Config = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> int:
    """Answer a question from the documents alone, with citations; needs a chat model in the configuration (answer: {model: ...})."""
    origin = origin_to_ask(config, data_dir)
    name = knowledge_base_meant(configuration_of(origin), kb).name
    body: dict[str, Any] = {"question": valid_text(question)}
    if path is not None:
        body["filter"] = {"path_glob": valid_text(path)}
    answer: dict[str, Any] = {}
    with open_api(origin, data_dir) as api:
        for event, data in api.events(f"/v1/knowledge-bases/{name}/answer", {**body, "stream": True}):
            if event == "delta" and not as_json:
                out.print(printable(data["text"]), end="", markup=False, highlight=False, soft_wrap=True)
            elif event == "done":
                answer = data
    if not answer:
        raise ServiceDown("the query service broke the answer off")
    if as_json:
        print_json(answer)
    else:
        out.print()
        _show_sources(answer)
    return ExitCode.OK if answer["is_grounded"] else ExitCode.FINDINGS


def _show_sources(answer: dict[str, Any]) -> None:
    if answer["citations"]:
        out.print()
    for citation in answer["citations"]:
        out.print(printable(citation["label"]), markup=False, highlight=False, soft_wrap=True)
    if not answer["is_grounded"] and not answer["declined"]:
        say("the answer cites none of the passages: it may not come from the documents")
    for degraded in answer["degraded"]:
        say(f"without {degraded['strategy']}: {degraded['reason']}")
