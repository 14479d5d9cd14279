"""Configuration: the YAML schema, its discovery and its errors with line numbers; environment settings."""

from docmill.config.availability import Unavailable, require_available, unavailable_in, unavailable_parts
from docmill.config.describing import configuration_schema, describe
from docmill.config.loading import Configuration, configuration_for_folder, find_configuration, load_configuration
from docmill.config.providers import Adapter, ModelSpec, adapter_for
from docmill.config.roots import is_pattern, missing_roots, roots_of
from docmill.config.settings import Settings

__all__ = [
    "Adapter",
    "Configuration",
    "ModelSpec",
    "Settings",
    "Unavailable",
    "adapter_for",
    "configuration_for_folder",
    "configuration_schema",
    "describe",
    "find_configuration",
    "is_pattern",
    "load_configuration",
    "missing_roots",
    "require_available",
    "roots_of",
    "unavailable_in",
    "unavailable_parts",
]
