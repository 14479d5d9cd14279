"""Containers: formats that pack their parts, PDF, Office and the like; read where a malicious one can harm nobody."""
