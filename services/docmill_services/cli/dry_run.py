"""``docmill index --dry-run``: prints what a run would do."""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from docmill.bootstrap import DATA_FOLDER_NAME, look, names_servers
from docmill.chunking import chunk
from docmill.config import Settings, require_available
from docmill.config.loading import Configuration
from docmill.config.providers import ModelSpec
from docmill.domain.errors import ExitCode
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.indexing.indexed import Indexed
from docmill_services.cli.output import out, print_json, say
from docmill_services.dry_run import DryRun, DryRunner
from docmill_services.model_work import price_of

_SAY_SECONDS: Final = 5.0


def show_dry_run(configuration: Configuration, settings: Settings, data_dir: Path, *, as_json: bool) -> ExitCode:
    """Looks through every knowledge base, and prints what a run of each would do.

    Raises:
        StoreDown, ServiceDown, DataFolderError: what is indexed cannot be seen.
        NotAvailable: a knowledge base cannot be indexed by this version.
    """
    for kb in configuration.knowledge_bases:
        require_available(kb)
    found: dict[str, dict[str, Any]] = {}
    with look(configuration, settings, data_dir) as seen:
        if seen.hidden:
            say(seen.hidden)
        for kb in configuration.knowledge_bases:
            indexed = Indexed(kb, seen.registries.get(kb.name), seen.vectors)
            data_folder = kb.base_folder / DATA_FOLDER_NAME if names_servers(settings) else data_dir.absolute()
            dry = DryRunner(kb, data_folder, indexed, chunk, _progress(kb.name)).run()
            found[kb.name] = described(dry, kb, configuration.models.values()) | ({"hidden": seen.hidden} if seen.hidden else {})
    if as_json:
        print_json(found)
    else:
        for name, one in found.items():
            _show(name, one)
        say("tokens, requests and costs are estimates; docs/providers.md says how they are made")
    return ExitCode.OK


def described(dry: DryRun, kb: KnowledgeBase, models: Iterable[ModelSpec]) -> dict[str, Any]:
    """A dry run as JSON; what is estimated says so by its name."""
    models = list(models)
    costs = [_rounded(work.cost_usd(price_of(work.spec, models))) for work in dry.models]
    rows = [
        {
            "model": work.spec.name,
            "role": work.role,
            "texts": work.texts,
            "requests_estimate": work.requests,
            "input_tokens_estimate": work.input_tokens,
            "output_tokens_estimate": work.output_tokens,
            "cost_usd_estimate": cost,
        }
        for work, cost in zip(dry.models, costs, strict=True)
    ]
    return {
        "files": dry.files,
        "unchanged": dry.unchanged,
        "to_index": dry.to_index,
        "skipped": dict(dry.skipped),
        "unreadable": dry.unreadable,
        "chunks": dry.chunks,
        "models": rows,
        "texts": sum(work.texts for work in dry.models if work.role == "embedding"),
        "requests_estimate": sum(work.requests for work in dry.models),
        "tokens_estimate": sum(work.input_tokens + work.output_tokens for work in dry.models),
        "cost_usd_estimate": _total(costs),
        "max_tokens_per_run": kb.max_tokens_per_run,
    }


def _total(costs: Sequence[float | None]) -> float | None:
    """None as soon as the price of one model is not known: less than everything would be no answer."""
    known = [cost for cost in costs if cost is not None]
    return _rounded(sum(known)) if len(known) == len(costs) else None


def _rounded(cost: float | None) -> float | None:
    return None if cost is None else round(cost, 6)


def _progress(name: str) -> Callable[[int], None]:
    said_at = time.monotonic()

    def looked_at(files: int) -> None:
        nonlocal said_at
        if time.monotonic() - said_at > _SAY_SECONDS:
            said_at = time.monotonic()
            say(f"{name}: {files} files were looked at")

    return looked_at


def _show(name: str, one: dict[str, Any]) -> None:
    table = Table(title=Text(name), title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    table.add_row("files", f"{one['files']:,}, {one['unchanged']:,} of them unchanged")
    table.add_row("to index", f"{one['to_index']:,} files, {one['chunks']:,} chunks over all strategies")
    left_out = [f"{count:,} {reason}" for reason, count in one["skipped"].items()]
    left_out += [f"{one['unreadable']:,} cannot be read now"] if one["unreadable"] else []
    if left_out:
        table.add_row("left out", ", ".join(left_out))
    for row in one["models"]:
        table.add_row(f"{row['role']} model", Text(_line(row)))
    cost = "not known: no price is configured" if one["cost_usd_estimate"] is None else _money(one["cost_usd_estimate"])
    table.add_row("altogether", f"about {one['tokens_estimate']:,} tokens, {one['requests_estimate']:,} requests, cost {cost}")
    limit = one["max_tokens_per_run"]
    if limit is not None and one["tokens_estimate"] > limit:
        table.add_row("", Text(f"more than max_tokens_per_run ({limit:,}): a run would stop there", style="yellow"))
    out.print(table)


def _line(row: dict[str, Any]) -> str:
    parts = [f"{row['texts']:,} texts"]
    if row["input_tokens_estimate"]:
        parts.append(f"about {row['input_tokens_estimate']:,} tokens")
    if row["output_tokens_estimate"]:
        parts.append(f"about {row['output_tokens_estimate']:,} tokens written")
    if row["requests_estimate"]:
        parts.append(f"{row['requests_estimate']:,} requests")
    if row["cost_usd_estimate"] is not None:
        parts.append(_money(row["cost_usd_estimate"]))
    return f"{row['model']}: {', '.join(parts)}"


def _money(dollars: float) -> str:
    return f"${dollars:,.2f}" if dollars >= 1 or not dollars else f"${dollars:.4f}"
