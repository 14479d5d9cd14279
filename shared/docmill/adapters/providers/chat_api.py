"""What one chat API asks for and answers, as pure functions; ``http_chat`` makes the calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from docmill.ports.models import JsonSchema


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request in no API's words; see ``ChatModel.complete``.

    Attributes:
        model: the provider's name of the model.
        temperature: None leaves it to the provider.
    """

    model: str
    prompt: str
    max_tokens: int
    system: str | None = None
    schema: JsonSchema | None = None
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote: a whole answer, or the next part of one.

    Attributes:
        text: may be empty.
        end: why the model stopped, in the provider's words; None while it goes on.
        is_refusal: it stopped because it, or a filter, does not want to answer this.
    """

    text: str = ""
    end: str | None = None
    is_refusal: bool = False


class ChatApi(Protocol):
    """One provider's form of requests and answers."""

    def headers(self, api_key: str | None) -> Mapping[str, str]:
        """Of every request; with the key where there is one."""
        ...

    def path(self, request: ChatRequest, *, streams: bool) -> str:
        """Where the request goes, after the base URL."""
        ...

    def body(self, request: ChatRequest, *, streams: bool) -> dict[str, object]:
        """The request's JSON."""
        ...

    def written(self, answer: object) -> Written:
        """What is written in the JSON of an answer, or of an event of a stream.

        Raises:
            ValueError: it is neither.
        """
        ...


def objects(value: object) -> list[dict[str, object]]:
    """The objects in ``value`` when that is a list; what else is in it is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """``value`` when it is text, and nothing otherwise."""
    return value if isinstance(value, str) else ""
