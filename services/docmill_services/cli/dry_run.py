"""``docmill index --dry-run``: prints what a run would do."""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from rich.text import Text

from docmill.bootstrap import DATA_FOLDER_NAME, document_loader, look, names_servers
from docmill.chunking import chunk
from docmill.config import Settings, require_available
from docmill.config.loading import Configuration
from docmill.config.providers import ModelSpec
from docmill.domain.errors import ExitCode
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.indexing.indexed import Indexed
from docmill_services.cli.dry_run_listing import EXAMPLES, described_group, listing
from docmill_services.cli.output import counted, out, print_json, print_rows, say
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
    with look(configuration, settings, data_dir) as seen, document_loader() as load:
        if seen.hidden:
            say(seen.hidden)
        for kb in configuration.knowledge_bases:
            indexed = Indexed(kb, seen.registries.get(kb.name), seen.vectors)
            data_folder = kb.base_folder / DATA_FOLDER_NAME if names_servers(settings) else data_dir.absolute()
            most_paths = None if as_json else EXAMPLES
            dry = DryRunner(kb, data_folder, indexed, chunk, load, _progress(kb.name), most_paths).run()
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
        "empty": dry.empty,
        "unreadable": dry.unreadable,
        "chunks": dry.chunks,
        "models": rows,
        "texts": sum(work.texts for work in dry.models if work.role == "embedding"),
        "requests_estimate": sum(work.requests for work in dry.models),
        "tokens_estimate": sum(work.input_tokens + work.output_tokens for work in dry.models),
        "cost_usd_estimate": _total(costs),
        "max_tokens_per_run": kb.max_tokens_per_run,
        "by_type": [{"type": one.name, "files": one.files, "chunks": one.chunks, "paths": one.paths} for one in dry.by_type],
        "left_out": [described_group(group) for group in dry.left_out],
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
    rows: list[tuple[str, str | Text]] = [
        ("files", f"{one['files']:,} by the rules, {one['unchanged']:,} of them unchanged"),
        ("to index", f"{counted(one['to_index'], 'file')}, {counted(one['chunks'], 'chunk')} over all strategies"),
    ]
    left_out = [f"{count:,} {reason}" for reason, count in one["skipped"].items()]
    left_out += [f"{one['empty']:,} empty"] if one["empty"] else []
    left_out += [f"{one['unreadable']:,} cannot be read now"] if one["unreadable"] else []
    if left_out:
        rows.append(("not to index", f"for what is in them: {', '.join(left_out)}"))
    rows += [(f"{row['role']} model", _line(row)) for row in one["models"]]
    tokens, requests = counted(one["tokens_estimate"], "token"), counted(one["requests_estimate"], "request")
    rows.append(("altogether", f"about {tokens}, {requests}, cost {_cost(one)}"))
    limit = one["max_tokens_per_run"]
    if limit is not None and one["tokens_estimate"] > limit:
        rows.append(("", Text(f"more than max_tokens_per_run ({limit:,}): a run would stop there", style="yellow")))
    print_rows(name, rows)
    for line in listing(one["by_type"], one["left_out"]):
        out.print(line, markup=False)


def _cost(one: dict[str, Any]) -> str:
    if one["cost_usd_estimate"] is not None:
        return _money(one["cost_usd_estimate"])
    without = [row["model"] for row in one["models"] if row["cost_usd_estimate"] is None]
    return f"not known: models: has no price of {', '.join(without)}"


def _line(row: dict[str, Any]) -> str:
    parts = [counted(row["texts"], "text")]
    if row["input_tokens_estimate"]:
        parts.append(f"about {counted(row['input_tokens_estimate'], 'token')}")
    if row["output_tokens_estimate"]:
        parts.append(f"about {counted(row['output_tokens_estimate'], 'token')} written")
    if row["requests_estimate"]:
        parts.append(counted(row["requests_estimate"], "request"))
    if row["cost_usd_estimate"] is not None:
        parts.append(_money(row["cost_usd_estimate"]))
    return f"{row['model']}: {', '.join(parts)}"


def _money(dollars: float) -> str:
    if 0 < dollars < 0.0001:
        return "less than $0.0001"
    return f"${dollars:,.2f}" if dollars >= 1 or not dollars else f"${dollars:.4f}"
