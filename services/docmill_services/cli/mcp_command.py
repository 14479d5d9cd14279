"""``docmill mcp``."""

from functools import partial

from docmill.domain.errors import ExitCode
from docmill_services.cli.api import ask_running, open_api
from docmill_services.cli.finding import configuration_of, origin_to_ask
from docmill_services.cli.options import DEFAULT_DATA_DIR, Config, DataDir


def mcp(config: Config = None, data_dir: DataDir = DEFAULT_DATA_DIR) -> int:
    """Serve MCP on standard input and output, for an agent that starts docmill as its tool.

    Asks a running docmill, else the servers that the environment names, else opens the data folder for each question.
    """
    import anyio

    from docmill_services.mcp.over_stdio import serve_stdio

    origin = origin_to_ask(config, data_dir)
    anyio.run(serve_stdio, partial(open_api, origin, data_dir), partial(ask_running, data_dir), configuration_of(origin).knowledge_bases)
    return ExitCode.OK
