"""Values and rules of docmill; imports nothing else of the project."""
