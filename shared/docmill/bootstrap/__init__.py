"""Composition root: the only place that picks adapters."""

from docmill.bootstrap.checks import (
    check_chat_models,
    check_embedded_engine,
    check_embedded_server,
    check_embedding_models,
    check_servers,
)
from docmill.bootstrap.connections import Connections, connect
from docmill.bootstrap.engine import Engine, OpenKnowledgeBase, Owner
from docmill.bootstrap.isolating import document_loader
from docmill.bootstrap.looking import Look, look
from docmill.bootstrap.opening import DATA_FOLDER_NAME, connect_engine, names_servers, open_engine
from docmill.bootstrap.producing import gates_by_name

__all__ = [
    "DATA_FOLDER_NAME",
    "Connections",
    "Engine",
    "Look",
    "OpenKnowledgeBase",
    "Owner",
    "check_chat_models",
    "check_embedded_engine",
    "check_embedded_server",
    "check_embedding_models",
    "check_servers",
    "connect",
    "connect_engine",
    "document_loader",
    "gates_by_name",
    "look",
    "names_servers",
    "open_engine",
]
