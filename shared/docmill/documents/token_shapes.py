"""Token shapes: what the access tokens of well-known services look like, as their documentation says."""

import re
from dataclasses import dataclass
from typing import Final

from docmill.documents.placeholders import is_made_up

#: Not in the middle of a word or of base64; an escaped line break in a string is no part of the word after it.
BEFORE: Final = r"(?:(?<![A-Za-z0-9+/_-])|(?<=\\[nrt])|(?<=%3[AaDd]))"


@dataclass(frozen=True, slots=True)
class TokenShape:
    """One kind of token.

    Attributes:
        kind: for people, with its article.
        marks: what such a token, or the name of its value, begins with.
        pattern: matches from a mark on; its first group is the part that is random.
        stands_apart: there may be blanks between the mark and that part.
    """

    kind: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]
    stands_apart: bool = False

    def first(self, text: str, long_words: str) -> int | None:
        """Where the first such token is; None where there is none but what was made up as an example.

        Args:
            text: to look through.
            long_words: at least those of its words that are long enough for a token, in which it is looked for a mark first.
        """
        marked = text if self.stands_apart else long_words
        if not any(mark in marked for mark in self.marks):
            return None
        return min((place for mark in self.marks if (place := self._first_of(mark, text)) is not None), default=None)

    def _first_of(self, mark: str, text: str) -> int | None:
        place = text.find(mark)
        while place >= 0:
            match = self.pattern.match(text, place)
            if match is not None and not is_made_up(match[1]):
                return place
            place = text.find(mark, place + len(mark))
        return None


def _token(kind: str, marks: str, body: str, after: str = "A-Za-z0-9_-") -> TokenShape:
    """Args: ``marks``, with blanks between them, are what such a token may begin with; ``after`` may not follow it."""
    alternatives = "|".join(re.escape(mark) for mark in marks.split())
    return TokenShape(kind, tuple(marks.split()), re.compile(f"{BEFORE}(?:{alternatives})({body})(?![{after}])", re.ASCII))


def _assigned(kind: str, names: str, body: str) -> TokenShape:
    """A value that is known by the name that it is given to."""
    alternatives = "|".join(re.escape(name) for name in names.split())
    pattern = rf"""(?:{alternatives})["'\]]{{0,2}}[ \t]{{0,8}}(?:=|:|=>|:=)[ \t]{{0,8}}["'`]?({body})(?![A-Za-z0-9/+=])"""
    return TokenShape(kind, tuple(names.split()), re.compile(pattern, re.ASCII), stands_apart=True)


_WORD: Final = "[A-Za-z0-9_-]"

TOKEN_SHAPES: Final = (
    _token("an AWS access key", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}"),
    _assigned(
        "an AWS secret key",
        "aws_secret_access_key AWS_SECRET_ACCESS_KEY aws_secret_key AWS_SECRET_KEY SecretAccessKey secretAccessKey secret_access_key",
        "[A-Za-z0-9/+]{40}",
    ),
    _token("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{36,251}"),
    _token("a GitHub token", "github_pat_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _token("a GitLab token", "glpat- glptt- gldt- glrt- glcbt- glsoat- glimt- glagent- glft- GR1348941", f"{_WORD}{{20,300}}"),
    _token("a Slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe.xoxb- xoxe.xoxp-", "[0-9]{1,13}-[A-Za-z0-9-]{16,200}"),
    _token("a Slack token", "xapp-", "[0-9]-[A-Z0-9]{8,14}-[0-9]{8,16}-[a-z0-9]{32,128}"),
    _token("a Slack webhook", "//hooks.slack.com/services/ //hooks.slack.com/workflows/", "[A-Z0-9]{8,12}/[A-Z0-9]{8,12}/[A-Za-z0-9]{24}"),
    _token("a Stripe live key", "sk_live_ rk_live_ sk_org_live_", "[A-Za-z0-9]{20,247}"),
    _token("a Stripe webhook secret", "whsec_", "[A-Za-z0-9+/]{32,64}=?"),
    _token("an Anthropic key", "sk-ant-", f"[a-z]{{3,10}}[0-9]{{2}}-{_WORD}{{40,200}}"),
    _token("an OpenRouter key", "sk-or-v1-", "[0-9a-f]{64}"),
    _token("an OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None-", f"{_WORD}{{40,300}}"),
    _token("an OpenAI key", "sk-", "(?=[A-Za-z]{0,40}[0-9])(?=[0-9a-z]{0,40}[A-Z])[A-Za-z0-9]{48}"),
    _token("a Google API key", "AIza", f"{_WORD}{{35}}"),
    _token("a Google OAuth client secret", "GOCSPX-", f"{_WORD}{{28}}"),
    _token("an npm token", "npm_", "[A-Za-z0-9]{36}"),
    _token("a PyPI token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", f"{_WORD}{{50,1000}}"),
    _token("a RubyGems token", "rubygems_", "[0-9a-f]{48}"),
    _token("a Docker Hub token", "dckr_pat_ dckr_oat_", f"{_WORD}{{27,64}}"),
    _token("a Hugging Face token", "hf_", "[A-Za-z]{34}"),
    _token("a Groq key", "gsk_", "[A-Za-z0-9]{52}"),
    _token("an xAI key", "xai-", "[A-Za-z0-9]{80}"),
    _token("a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "[0-9a-f]{64}"),
    _token("a SendGrid key", "SG.", f"{_WORD}{{22}}\\.{_WORD}{{43}}"),
    _token("a Shopify token", "shpat_ shpca_ shppa_ shpss_", "[0-9a-fA-F]{32}"),
    _token("a Grafana token", "glsa_", "[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    _token("a HashiCorp Vault token", "hvs. hvb.", f"{_WORD}{{60,300}}"),
    _token("a Databricks token", "dapi", "[0-9a-f]{32}(?:-[0-9])?"),
    _token("a Linear key", "lin_api_", "[A-Za-z0-9]{40}"),
    _token("a New Relic key", "NRAK-", "[A-Z0-9]{27}"),
    _token("a Tailscale key", "tskey-auth- tskey-api- tskey-client-", "[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,48}"),
    _token("an age key", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    _token("a Discord webhook", "//discord.com/api/webhooks/ //discordapp.com/api/webhooks/", f"[0-9]{{17,20}}/{_WORD}{{60,80}}"),
    _assigned("an Azure storage key", "AccountKey", "[A-Za-z0-9+/]{86}=="),
    _assigned("a WireGuard key", "PrivateKey PresharedKey", "[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]="),
)
