"""What went wrong with a connection to Redis, as one line that says what to do; never with a login in it."""

import ssl
from collections.abc import Iterator

import redis
from redis.sentinel import MasterNotFoundError

from docmill.adapters.redis.address import VARIABLE, RedisAddress
from docmill.domain.errors import ServiceDown, StoreDown


def problem_of(error: BaseException, address: RedisAddress) -> ServiceDown:
    """The error to raise for ``error``, which redis-py raised while it connected to ``address`` or asked it for its version."""
    where = f"{VARIABLE}: the server at {address.place}"
    for one in _causes(error):
        if isinstance(one, ssl.SSLCertVerificationError):
            return ServiceDown(
                f"{where} has a TLS certificate that cannot be trusted ({one.verify_message}):"
                " name the certificate of its authority in DOCMILL_REDIS_CA_FILE, and the host as in the certificate"
            )
        if isinstance(one, ssl.SSLError):
            return ServiceDown(
                f"{where} does not speak TLS as docmill does ({one.reason or 'SSL error'}): correct it, or begin it with redis://"
            )
    if isinstance(error, MasterNotFoundError):
        return StoreDown(
            f"{VARIABLE}: no Sentinel of {address.place} names a server: start the Sentinels, or correct their addresses and the name"
        )
    if isinstance(error, (redis.AuthenticationError, redis.exceptions.AuthenticationWrongNumberOfArgsError)):
        if "NOAUTH" in str(error) or "Authentication required" in str(error):
            return ServiceDown(f"{where} asks for a password: write it into the URL as :PASSWORD@ or USER:PASSWORD@ before the host")
        if "without any password" in str(error):
            return ServiceDown(f"{where} has no password, but the URL gives one: remove it")
        return ServiceDown(f"{where} refuses the user or the password of the URL: correct them (percent-encoded)")
    if isinstance(error, redis.exceptions.NoPermissionError):
        return ServiceDown(f"{where} does not let this user do what docmill needs ({_first_line(error)}): give it ~docmill:* and @all")
    if isinstance(error, redis.exceptions.BusyLoadingError):
        return StoreDown(f"{where} is still loading its data: try again when it has")
    if isinstance(error, (redis.InvalidResponse, redis.ResponseError)):
        return ServiceDown(f"{where} is not a Redis that docmill can use ({_first_line(error)}): correct the address")
    if isinstance(error, (redis.TimeoutError, TimeoutError)):
        perhaps = "; if it does not speak TLS, begin the URL with redis://" if address.tls else ""
        return StoreDown(f"{where} did not answer in time: start it, or correct the address{perhaps}")
    refused = next((one for one in _causes(error) if isinstance(one, OSError)), None)
    if isinstance(refused, (ConnectionResetError, BrokenPipeError)) or (refused is None and "closed" in str(error).lower()):
        return StoreDown(f"{where} closed the connection; if it expects TLS, begin the URL with rediss://")
    reason = (refused.strerror if refused is not None else None) or _first_line(error)
    return StoreDown(f"{where} cannot be reached ({reason}): start it, or correct the address")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0][:200] if lines else type(error).__name__
