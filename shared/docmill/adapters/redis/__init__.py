"""Registry, leases, ledger, gate and task queue on Redis or Valkey."""
