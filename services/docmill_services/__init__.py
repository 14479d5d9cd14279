"""The services: producer, query service and command line."""
