"""Formats: what the text of a file of each format is, and how it is laid out."""
