"""The syntax of source code, by tree-sitter: what is defined where, and where a cut parts least."""
