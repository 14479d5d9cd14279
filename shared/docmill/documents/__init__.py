"""Files: which ones belong to a knowledge base, what they are, and what their text is."""
