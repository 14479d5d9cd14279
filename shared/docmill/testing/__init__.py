"""Contract suites for the ports: any adapter passes them by overriding one fixture."""
