"""Readers of files that are taken apart: PDF, Office, OpenDocument, EPUB. They belong into a process of their own."""
