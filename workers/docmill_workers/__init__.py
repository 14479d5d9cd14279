"""The worker side: the Celery task and what runs it."""
