"""Query service: HTTP."""
