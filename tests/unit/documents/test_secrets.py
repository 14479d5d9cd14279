"""Secrets in text: real shapes are found, what documentation shows is not, and no text takes long."""

import base64
import json
import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docmill.documents.secrets import find_secret, require_no_secret
from docmill.domain.documents import DocumentKind, LoadedDocument
from docmill.domain.errors import DocumentSkipped, SkipReason

WORDS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


def made(size: int, characters: str = WORDS, seed: int = 7) -> str:
    """So many characters that a program made; nothing here is a secret of anybody."""
    return "".join(random.Random(f"{seed}{size}{characters}").choices(characters, k=size))


def part(claims: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")


def jwt(claims: dict[str, object]) -> str:
    return f"{part({'alg': 'RS256', 'typ': 'JWT'})}.{part(claims)}.{made(86)}"


def pem(kind: str, size: int = 1200) -> str:
    body = base64.b64encode(random.Random(kind).randbytes(size)).decode()
    lines = "\n".join(body[place : place + 64] for place in range(0, len(body), 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


# The beginnings are put together here, so that nothing in this file looks like a token itself.
TOKENS = {
    "an AWS access key": "AK" + "IA" + made(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "an AWS secret key": "aws_secret_access_key = " + made(40, WORDS + "/+"),
    "a GitHub token": "gh" + "p_" + made(36),
    "a GitLab token": "gl" + "pat-" + made(20, WORDS + "_-"),
    "a Slack token": "xo" + "xb-" + "17653672481-" + made(13, string.digits) + "-" + made(24),
    "a Slack webhook": "https://hooks.slack" + ".com/services/T" + made(8, UPPER) + "/B" + made(10, UPPER) + "/" + made(24),
    "a Stripe live key": "sk" + "_live_" + made(24),
    "an OpenAI key": "sk" + "-proj-" + made(74, WORDS + "_-") + "T3BlbkFJ" + made(74, WORDS + "_-"),
    "an Anthropic key": "sk" + "-ant-api03-" + made(93, WORDS + "_-") + "AA",
    "a Google API key": "AI" + "za" + made(35, WORDS + "_-"),
    "an npm token": "np" + "m_" + made(36),
    "a PyPI token": "py" + "pi-AgEIcHlwaS5vcmc" + made(150, WORDS + "_-"),
    "a Hugging Face token": "h" + "f_" + made(34, string.ascii_letters),
    "an Azure storage key": "AccountName=acme;Account" + "Key=" + made(86, WORDS + "/+") + "==",
    "an access token (JWT)": jwt({"iss": "https://login.acme.io/", "sub": "u-7", "exp": 2_000_000_000}),
    "a password in an address": "postgres:" + "//app:kT9vQ2mZx8@db.acme.io:5432/prod",
    "a password in a connection string": "Server=tcp:db.acme.io,1433;User ID=app;Pass" + "word=kT9vQ2mZx8;Encrypt=True",
}
#: As they stand in documentation, in tests and in templates.
EXAMPLES = [
    "AKIAIOSFODNN7" + "EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "AROA" + made(17, UPPER) + " is the id of a role",
    "SomeBase64Containing" + "AKIA" + made(60, UPPER) + "somewhere",
    "TODAYINASIAASACKOFRICEFELLOVER",
    "gh" + "p_" + "x" * 36,
    "gh" + "p_" + "your_token_here".ljust(36, "x"),
    "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a",
    "gh" + "p_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "https://hooks.slack" + ".com/services/T00000000/B00000000/" + "X" * 24,
    "xo" + "xb-your-token",
    "sk" + "_test_" + made(24),
    "sk" + "-proj-...",
    "sk" + "-" + "your-openai-key-goes-here-instead-of-this-one-please",
    "class sk" + "-" + "loading-indicator-container-with-a-rather-long-name-indeed",
    "np" + "m_config_registry and npm_lifecycle_event",
    jwt({"sub": "1234567890", "name": "John Doe", "iat": 1_516_239_022}),
    jwt({"iss": "https://server.example.com", "exp": 2_000_000_000}),
    jwt({"iss": "accounts.acme.io", "exp": 1_311_281_970}),
    jwt({"iss": "supabase", "role": "anon", "exp": 2_000_000_000}),
    "eyJhbGciOiJub25l.eyJoZWxsbyI6IndvcmxkIn0.nothing",
    "postgres://user:password@db.acme.io/db",
    "postgres://postgres:kT9vQ2mZx8@localhost:5432/db",
    "postgresql://test:test@127.0.0.1:7432/test",
    "mysql://root:secret@mysql/app",
    "redis://default:${REDIS_PASSWORD}@redis.acme.io:6379",
    "amqp://guest:guest@rabbitmq.acme.io",
    "mongodb+srv://<user>:<password>@cluster0.mongodb.net/",
    "https://admin:admin@the-internet.herokuapp.com/",
    "https://user:kT9vQ2mZx8@www.example.com/",
    "https://acme.io/path:with@signs",
    "https://acme.io:123,foo:bar@pears.io/path",
    "jdbc:postgresql://postgres:5432/mydb",
    "Server={0};Database={3};User Id={1};Password={2};",
    "Server=db.acme.io;User ID=sa;Password=PASSWORD_HERE",
    "Server=localhost;Uid=root;Pwd=kT9vQ2mZx8;",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n<your key>\n-----END PRIVATE KEY-----",
    'if "-----BEGIN RSA PRIVATE KEY-----" in text and "-----END RSA PRIVATE KEY-----" in text:',
    "-----BEGIN PRIVATE KEY-----\n" + "faketestkeydata" * 20 + "\n-----END PRIVATE KEY-----",
    pem("CERTIFICATE"),
    pem("PUBLIC KEY", 270),
    'integrity "sha512-' + base64.b64encode(random.Random(3).randbytes(64)).decode() + '"',
    "commit " + made(40, HEX) + " and sha256:" + made(64, HEX),
    "PrivateKey = <private key of this host>",
]


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize("around", ["{}", "export TOKEN={}", '{{"a": "line\\n{}"}}', "Use `{}`.", "first\n\n> {}\n"])
def test_a_token_is_found_with_its_kind(kind: str, around: str) -> None:
    text = around.format(TOKENS[kind])
    found = find_secret(text)
    assert found is not None
    assert found.kind == kind
    assert found.start < len(text)


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_is_no_secret(text: str) -> None:
    assert find_secret(f"# How to\n\nWrite {text} and go on.\n") is None


@pytest.mark.parametrize("kind", ["RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY"])
def test_a_private_key_is_found(kind: str) -> None:
    found = find_secret("Our key:\n\n" + pem(kind, 121))
    assert found is not None
    assert (found.kind, found.start) == (f"a private key ({kind.removesuffix('PRIVATE KEY').strip() or 'PEM'})", 10)


def test_a_private_key_is_found_in_any_wrapping() -> None:
    key = pem("RSA PRIVATE KEY")
    in_code = "".join(f'    "{line}\\n" +\n' for line in key.splitlines())
    indented = "".join(f"      {line}\n" for line in key.splitlines())
    encrypted = key.replace("-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,26A3\n\n", 1)
    block = pem("PGP PRIVATE KEY BLOCK").replace("-----\n", "-----\nVersion: 1\n\n", 1)
    for text in (key, in_code, indented, encrypted, block, json.dumps({"key": key})):
        assert find_secret(text), text[:200]


def test_a_putty_key_is_found() -> None:
    lines = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n" + made(44) + "\n"
    assert find_secret(lines) is not None


def test_a_service_account_is_named_as_such() -> None:
    found = find_secret(json.dumps({"type": "service_account", "private_key": pem("PRIVATE KEY")}))
    assert found is not None
    assert found.kind == "a GCP service account's private key"


def test_the_first_of_several_is_reported() -> None:
    text = f"one\n{TOKENS['an npm token']}\n{TOKENS['a GitHub token']}\n"
    found = find_secret(text)
    assert found is not None
    assert (found.kind, found.start) == ("an npm token", 4)


def document(text: str, **more: object) -> LoadedDocument:
    return LoadedDocument(text, DocumentKind.TEXT, "text/plain", "t", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("more", "place"),
    [({}, "line 3"), ({"source_lines": [10, 11, 40]}, "line 40"), ({"page_starts": [0, 4]}, "page 2")],
)
def test_the_reason_says_which_kind_and_where_and_never_the_secret(more: dict[str, object], place: str) -> None:
    token = TOKENS["a GitHub token"]
    with pytest.raises(DocumentSkipped) as skipped:
        require_no_secret(document(f"one\ntwo\ntoken {token}\n", **more))
    assert skipped.value.reason is SkipReason.SECRET
    assert (
        skipped.value.detail == f"it holds what looks like a GitHub token, {place}; to index it, name the file in docs or set allow_secrets"
    )
    assert token[4:] not in str(skipped.value)


@pytest.mark.parametrize("name", ["title", "a value", "one of several values"])
def test_what_is_known_of_a_document_is_looked_through_like_its_text(name: str) -> None:
    token = TOKENS["a GitHub token"]
    metadata = {"a value": {"description": f"see {token}"}, "one of several values": {"pages": 3, "keywords": ["a", token]}}
    title = f"About {token}" if name == "title" else "t"
    with pytest.raises(DocumentSkipped, match="a GitHub token, in its title or its metadata; to index it") as skipped:
        require_no_secret(LoadedDocument("words", DocumentKind.TEXT, "text/html", title, metadata=metadata.get(name, {})))
    assert token[4:] not in str(skipped.value)


def test_a_text_without_secrets_passes() -> None:
    require_no_secret(document("nothing but words\n" * 1000))


@given(st.text(alphabet="-BEGINPRIVATKY \neyJ.AKI/:@;=sk_ghp01", max_size=400))
@settings(max_examples=300)
def test_any_text_is_looked_through(text: str) -> None:
    found = find_secret(text)
    assert found is None or 0 <= found.start < len(text)


@pytest.mark.parametrize(
    "piece",
    [
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "eyJaaaaaaaa.",
        "://",
        "a://b:c@",
        "pwd=",
        "Password=aB3xY9;",
        "AKIA",
        "sk-",
        "xoxb-1-",
        "glpat-",
        " ",
    ],
)
def test_the_work_grows_with_the_text_and_no_faster(piece: str) -> None:
    """A defect here would take hours, not seconds: the test ends by itself only when the work is bounded."""
    assert find_secret(piece * 100_000) is None
