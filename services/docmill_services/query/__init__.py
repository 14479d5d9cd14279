"""The query service: HTTP over one or more knowledge bases."""
