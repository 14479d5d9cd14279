"""docmill: keeps folders of files searchable while they change."""

from importlib.metadata import version

__version__ = version("docmill")
