"""Skip reasons: what each means, in one sentence."""

from collections.abc import Mapping
from typing import Final

from docmill.domain.errors import SkipReason

SKIP_REASONS: Final[Mapping[SkipReason, str]] = {
    SkipReason.IGNORED: "A rule leaves it out: `.gitignore`, `.docmillignore`, `!pattern` in `docs`, or it is under none of the `docs`.",
    SkipReason.TOO_LARGE: "It has more bytes than may be read, or would have when it is unpacked.",
    SkipReason.BINARY: "It is not text, or of a kind that this version cannot read.",
    SkipReason.SECRET: "Its name is a credential's (`.env`, `*.pem`), or its text holds one (a private key, an access token); "
    "`allow_secrets: true` indexes it.",
    SkipReason.UNREADABLE: "It may not be read, or its path is too long.",
    SkipReason.NOT_A_FILE: "It is a symbolic link, a pipe, a device or a socket.",
    SkipReason.EMPTY: "It has no text: no bytes, only white space, or only front matter. Its state is `empty`.",
    SkipReason.GENERATED: "A program made it for programs: minified code, a lock file, a source map, a bundle.",
    SkipReason.ENCRYPTED: "It can only be opened with a password.",
    SkipReason.SCANNED: "It has pages and no text on them: they are pictures.",
    SkipReason.NOT_INSTALLED: "Its format is read by a package that is not installed; the sentence names it.",
    SkipReason.PARSER_FAILED: "Its content could not be taken apart.",
}
