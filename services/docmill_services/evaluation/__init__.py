"""Evaluation: how well searches find what people judged relevant."""
