"""Finds and loads configuration files, and makes a configuration for a bare folder."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from docmill.config.code_grammars import has_code_grammars
from docmill.config.knowledge_bases import Surroundings, build_knowledge_base, check_name
from docmill.config.problems import Problems
from docmill.config.providers import DEFAULT_EMBEDDING_MODEL, LOCAL, LOCAL_MODELS, PROVIDERS, ModelSpec, Provider
from docmill.config.references import References
from docmill.config.schema import SECTIONS
from docmill.config.wording import meant, not_a
from docmill.config.yaml_source import YamlSource, YamlValue, read_file, read_yaml
from docmill.domain.errors import ConfigurationError, ConfigurationNotFound
from docmill.domain.knowledge_bases import Chunking, EmbeddingModelSpec, KnowledgeBase, StrategyKind, StrategySpec

CONFIGURATION_FILE: Final = "docmill.yaml"
DEFAULT_SCAN_INTERVAL_SECONDS: Final = 900.0
#: Of each strategy of a bare folder: far more than the 15 results, since what both strategies find counts for more than what one of them
#: places high, and a search may ask for more results.
FOLDER_CANDIDATES: Final = 100

#: Names of tools that every server has.
RESERVED_TOOL_NAMES: Final = frozenset({"read_document", "list_knowledge_bases", "index_status"})


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a file, or a bare folder, configures.

    Attributes:
        path: the file; None for a bare folder.
        base_folder: absolute; document ids are relative to it.
        models: what each model reference that is used stands for.
        providers: the entries of ``providers:`` that are used.
        warnings: ``file:line:column: key: message``, for what works but deserves a look.
        notes: in the same form, for what might surprise.
    """

    path: Path | None
    base_folder: Path
    knowledge_bases: tuple[KnowledgeBase, ...]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    models: Mapping[str, ModelSpec] = field(default_factory=dict)
    providers: Mapping[str, Provider] = field(default_factory=dict)


def find_configuration(start: Path) -> Path | None:
    """The nearest ``docmill.yaml`` in ``start`` or a folder above it."""
    folder = start.absolute()
    candidates = (above / CONFIGURATION_FILE for above in (folder, *folder.parents))
    return next(
        (candidate for candidate in candidates if os.path.isfile(candidate)), None
    )  # Path.is_file raises for what cannot be looked at


def load_configuration(
    path: Path, *, scan_interval_seconds: float = DEFAULT_SCAN_INTERVAL_SECONDS, environ: Mapping[str, str] | None = None
) -> Configuration:
    """The configuration in a YAML file, with its defaults filled in and its paths resolved.

    Args:
        path: the file; relative entries of ``docs`` stand in its folder.
        scan_interval_seconds: for knowledge bases that do not say.
        environ: the environment variables, for ``embedding_model: auto``, which asks whose credential is set; None is none.

    Raises:
        ConfigurationNotFound: there is no such file.
        ConfigurationError: one line for each problem, ``file:line:column: key: message``.
    """
    try:
        raw = read_file(path)
    except FileNotFoundError as error:
        raise ConfigurationNotFound(f"{path}: there is no such file") from error
    source = read_yaml(str(path), raw, SECTIONS)
    problems = Problems(source)
    references = References(source, problems, environ or {})
    base_folder = Path(os.path.abspath(path)).parent.resolve()  # the file itself may be a link into a mount's inner folder
    around = Surroundings(base_folder, scan_interval_seconds, references, problems)
    entries = _knowledge_base_entries(source, problems)
    built = (build_knowledge_base(name, data, around) for name, data in entries.items())
    knowledge_bases = tuple(kb for kb in built if kb is not None)
    _check_tool_names(knowledge_bases, problems)
    problems.raise_errors()
    return Configuration(
        path, base_folder, knowledge_bases, problems.warnings, problems.notes, dict(references.models), dict(references.providers)
    )


def _knowledge_base_entries(source: YamlSource, problems: Problems) -> dict[str, YamlValue]:
    data = source.values.get("rag")
    if "rag" not in source.values:
        near = meant("rag", [key for key in source.values if key not in SECTIONS])
        problems.error((), f"there is no `rag:` section{near}; it holds the knowledge bases")
        return {}
    if not isinstance(data, dict):
        problems.error(("rag",), not_a("a mapping of names to knowledge bases", data))
        return {}
    if not data:
        problems.error(("rag",), "must have at least one knowledge base")
    return data


def _check_tool_names(knowledge_bases: tuple[KnowledgeBase, ...], problems: Problems) -> None:
    owners: dict[str, str] = {}
    for kb in knowledge_bases:
        name = kb.tool_name or kb.name
        path = ("rag", kb.name, "tool", "name") if kb.tool_name else ("rag", kb.name)
        if name in RESERVED_TOOL_NAMES:
            problems.error(path, f"every server has a tool `{name}` already; set another `tool.name`", at_key=True)
        elif name in owners:
            problems.error(
                path, f"the knowledge base `{owners[name]}` has the tool name `{name}` too; set another `tool.name`", at_key=True
            )
        owners.setdefault(name, kb.name)


def configuration_for_folder(
    folder: Path, *, name: str | None = None, scan_interval_seconds: float = DEFAULT_SCAN_INTERVAL_SECONDS
) -> Configuration:
    """A hybrid knowledge base of all that is in ``folder``, with the local embedding model and BM25.

    Args:
        folder: the documents' folder.
        name: of the knowledge base; made of the folder's name when None.
        scan_interval_seconds: between full scans while watching.

    Raises:
        ConfigurationNotFound: there is no such folder.
        ConfigurationError: ``folder`` is not a folder, or ``name`` cannot name a knowledge base.
    """
    if not os.path.exists(folder):  # Path.exists raises for what cannot be looked at
        raise ConfigurationNotFound(f"{folder}: there is no such folder")
    if not folder.is_dir():
        raise ConfigurationError(f"{folder}: this is not a folder")
    if name is not None and (problem := check_name(name)) is not None:
        raise ConfigurationError(problem)
    base_folder = folder.resolve()
    provider, _, model = DEFAULT_EMBEDDING_MODEL.partition("/")
    local = LOCAL_MODELS[model]
    chunking = Chunking(code_aware=has_code_grammars())
    spec = ModelSpec(DEFAULT_EMBEDDING_MODEL, LOCAL, model, PROVIDERS[LOCAL].adapter)
    kb = KnowledgeBase(
        name=name_for_folder(base_folder) if name is None else name,
        base_folder=base_folder,
        roots=(str(base_folder),),
        strategies=(
            StrategySpec(
                name=StrategyKind.CHUNKED_EMBEDDINGS.value,
                kind=StrategyKind.CHUNKED_EMBEDDINGS,
                threshold=local.threshold,
                limit=FOLDER_CANDIDATES,
                embedding=EmbeddingModelSpec(provider, model, local.dimensions),
                chunking=chunking,
            ),
            StrategySpec(name=StrategyKind.BM25.value, kind=StrategyKind.BM25, threshold=0.0, limit=FOLDER_CANDIDATES, chunking=chunking),
        ),
        scan_interval_seconds=scan_interval_seconds,
    )
    return Configuration(None, base_folder, (kb,), models={spec.reference: spec})


def name_for_folder(folder: Path) -> str:
    """A knowledge base's name made of a folder's: what cannot stand in one becomes `-`."""
    plain = unicodedata.normalize("NFKD", folder.name).encode("ascii", "ignore").decode("ascii")
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip("-._")[:64].rstrip("-._")
    return name or f"folder-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]}"
