"""Configuration: the YAML schema, its discovery and its errors with line numbers; environment settings."""
