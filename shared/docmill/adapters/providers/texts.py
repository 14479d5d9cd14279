"""Texts as models take them."""


def well_formed(text: str) -> str:
    """``text`` with each lone surrogate, which has no UTF-8 form, as ``?``."""
    return text.encode("utf-8", "replace").decode("utf-8")
