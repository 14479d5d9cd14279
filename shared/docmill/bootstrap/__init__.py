"""Composition root: the only place that picks adapters."""

from docmill.bootstrap.checks import check_embedded_engine, check_embedded_server, check_embedding_model, check_servers
from docmill.bootstrap.connections import Connections, connect
from docmill.bootstrap.engine import Engine, OpenKnowledgeBase, Owner
from docmill.bootstrap.opening import DATA_FOLDER_NAME, connect_engine, names_servers, open_engine

__all__ = [
    "DATA_FOLDER_NAME",
    "Connections",
    "Engine",
    "OpenKnowledgeBase",
    "Owner",
    "check_embedded_engine",
    "check_embedded_server",
    "check_embedding_model",
    "check_servers",
    "connect",
    "connect_engine",
    "names_servers",
    "open_engine",
]
