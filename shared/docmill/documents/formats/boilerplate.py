"""Boilerplate: what the names of classes and ids say of parts of web pages that are not the page's own text."""

import re
from functools import lru_cache
from typing import Final

_EXACT_WORDS: Final = """
    nav menu toc tocbox table-of-contents breadcrumbs footer pager pagination paginator ads ad advert advertisement social
    social-share share share-buttons sharing sharedaddy related-posts related-articles related-links newsletter newsletter-signup
    skip-link skip-links skip-to-content skip-nav skiplink site-header page-header-nav masthead topbar top-bar sphinxsidebar
    sphinxsidebarwrapper related headerlink edit-link edit-this-page mw-editsection mw-jump-link mw-panel mw-navigation mw-head
    catlinks navbox printfooter noprint sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only d-none
    is-hidden hidden linenos lineno linenodiv gutter line-numbers-rows blob-num rouge-gutter copybtn copy-button clipboard-button
    gdpr consent-banner preheader nav-tree side-nav
"""
_EXACT: Final = frozenset(_EXACT_WORDS.split())
_PARTS_WORDS: Final = """
    nav navbar navigation sidebar breadcrumb breadcrumbs footer pagination cookie cookies advert advertisement
"""
_PARTS: Final = frozenset(_PARTS_WORDS.split())
#: Such as in ``has-sidebar``, which stands on what is not the sidebar.
_OTHERWISE: Final = frozenset(["has", "with", "no", "without", "is", "not", "js", "layout"])
_SPLIT: Final = re.compile(r"[-_]+|(?<=[a-z])(?=[A-Z])")
_LONGEST: Final = 300


@lru_cache(maxsize=4096)
def is_boilerplate(classes: str, identity: str) -> bool:
    """Whether an element with these classes and this id looks like navigation, a footer, an advertisement or the like."""
    if not classes and not identity:
        return False
    names = f"{classes[:_LONGEST]} {identity[:_LONGEST]}".split()
    return any(_names_boilerplate(name, names) for name in names)


def _names_boilerplate(name: str, names: list[str]) -> bool:
    plain = name.lower()
    if plain in _EXACT or plain in _PARTS:
        # ``hidden md:block`` is hidden on small screens only.
        return plain not in ("hidden", "d-none") or not any(":" in other or other.startswith("d-") for other in names if other != name)
    parts = [part.lower() for part in _SPLIT.split(name) if part]
    return len(parts) > 1 and not _OTHERWISE.intersection(parts) and (parts[0] in _PARTS or parts[-1] in _PARTS)
