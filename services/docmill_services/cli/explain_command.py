"""``docmill explain``: why a file is found, or is not."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from docmill.bootstrap import DATA_FOLDER_NAME, names_servers
from docmill.config.settings import Settings
from docmill.domain.errors import ExitCode, ServiceDown
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill_services.cli.api import Api, open_api
from docmill_services.cli.explaining import INDEXED_STATES, NOT_ASKED, Answer, Explainer
from docmill_services.cli.finding import configuration_of, knowledge_base_meant, origin_to_ask, path_meant
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir, KnowledgeBaseName, named_path
from docmill_services.cli.output import counted, out, print_json, say
from docmill_services.origin import Origin

_DOCS_SHOWN: Final = 5
_WHEN: Final = {"live": "indexed", "empty": "looked at", "skipped": "looked at"}


def explain(
    path: Annotated[Path, typer.Argument(parser=named_path, metavar="PATH", help="A file or a folder.")],
    kb: KnowledgeBaseName = None,
    config: Config = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> int:
    """Say whether a file is indexed, with its chunks, or why it is not, with the rule that decided.

    Where several knowledge bases are configured it says so of each. Where nothing was indexed and nothing runs, the rules and the file
    decide alone.
    """
    origin = origin_to_ask(config, data_dir)
    configuration = configuration_of(origin)
    wanted = configuration.knowledge_bases if kb is None else [knowledge_base_meant(configuration, kb)]
    with _api_if_any(origin, data_dir) as (api, silent):
        answers = {one.name: _explained(one, path, data_dir, api) for one in wanted}
    if silent:
        say(f"{silent}: what follows is by the rules and the file alone")
    if as_json:
        print_json(_as_json(answers, silent))
    else:
        for one in wanted:
            _show(one, answers[one.name], named=len(answers) > 1)
    return _exit_code(answers.values())


@contextmanager
def _api_if_any(origin: Origin, data_dir: Path) -> Iterator[tuple[Api | None, str]]:
    """What is indexed; where it cannot be asked, None and why. What fails later, while it is asked, passes through."""
    api, silent = None, ""
    with ExitStack() as opened:
        try:
            api = opened.enter_context(open_api(origin, data_dir))
        except ServiceDown as error:
            silent = str(error)
        yield api, silent


def _explained(specification: KnowledgeBase, path: Path, data_dir: Path, api: Api | None) -> Answer:
    on_servers = names_servers(Settings.from_environment(os.environ))
    data_folder = specification.base_folder / DATA_FOLDER_NAME if on_servers else data_dir.absolute()
    return Explainer(specification, data_folder, api).explain(path_meant(path, specification.base_folder))


def _exit_code(answers: Collection[Answer]) -> ExitCode:
    if any(answer["state"] in INDEXED_STATES for answer in answers):
        return ExitCode.OK
    not_asked = any(answer.get("reason", "").startswith(NOT_ASKED) for answer in answers)
    return ExitCode.SERVICE_DOWN if not_asked else ExitCode.FINDINGS


def _as_json(answers: Mapping[str, Answer], silent: str) -> Answer:
    """One answer as it is; of several the first that is indexed, with all of them by knowledge base."""
    note = {"note": silent} if silent else {}
    name = next((name for name, answer in answers.items() if answer["state"] in INDEXED_STATES), next(iter(answers)))
    answer = answers[name] | {"knowledge_base": name} | note
    return answer if len(answers) == 1 else answer | {"knowledge_bases": dict(answers)}


def _show(specification: KnowledgeBase, answer: Answer, *, named: bool) -> None:
    out.print(f"{specification.name}: " * named + f"{answer['document_id']}: {answer['state']}", markup=False)
    lines = []
    if answer.get("reason"):
        lines.append(answer["reason"])
    rule = answer.get("rule")
    if rule is not None and rule["file"]:
        lines.append(f"rule {rule['pattern']} in {rule['file']}:{rule['line']}")
    if rule is None and answer["state"] == "skipped" and answer["reason"].endswith("configured docs"):
        lines.append(f"docs: {_some(specification.roots)}")
    if answer.get("stale"):
        lines.append("the file has changed, or is gone, since it was indexed")
    if answer.get("indexed_at"):
        lines.append(f"{_WHEN.get(answer['state'], 'what is found of it was indexed')}: {answer['indexed_at']}")
    lines += [
        f"{name}: {counted(strategy['chunks'], 'chunk')}, generation {strategy['generation']}"
        for name, strategy in answer["strategies"].items()
    ]
    if "documents" in answer:
        lines.append(_documents(answer["documents"]))
    for line in lines:
        out.print(f"  {line}", markup=False)


def _documents(counts: Mapping[str, int]) -> str:
    states = ", ".join(f"{count:,} {state}" for state, count in counts.items() if state != "more")
    return f"documents below: {'more than ' if 'more' in counts else ''}{states or 'none'}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_DOCS_SHOWN]) + (f" and {len(names) - _DOCS_SHOWN} more" if len(names) > _DOCS_SHOWN else "")
