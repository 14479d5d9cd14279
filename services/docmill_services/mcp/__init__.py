"""MCP: the query service as tools for agents, over streamable HTTP and over standard input and output."""
