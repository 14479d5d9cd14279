"""What the one-machine profile runs by itself: Valkey as a child process, the Qdrant engine in process."""
