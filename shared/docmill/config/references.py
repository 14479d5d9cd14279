"""Resolves model references: `provider/model`, names under `models:`, and providers under `providers:`."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from docmill.config.headers import problem_of_header
from docmill.config.problems import Problems
from docmill.config.providers import LOCAL, LOCAL_MODELS, PROVIDERS, Adapter, ModelSpec, Price, Provider, auto_model
from docmill.config.reading import read_section
from docmill.config.schema import CHAT_KEYS, RawModel, RawPrice, RawProvider
from docmill.config.wording import listed, meant, not_a, shown
from docmill.config.yaml_source import YamlPath, YamlSource, YamlValue

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPENAI_INTERFACES: Final = ("openai_chatcompletions", "openai_responses", "openai")


class References:
    """The `models:` and `providers:` of a file; entries are checked when something refers to them.

    Attributes:
        models: what each reference that was resolved stands for.
        providers: the entries of `providers:` that were used.
    """

    def __init__(self, source: YamlSource, problems: Problems, environ: Mapping[str, str]) -> None:
        self._problems = problems
        self._environ = environ
        self._model_entries = self._entries(source, "models")
        self._provider_entries = self._entries(source, "providers")
        self.models: dict[str, ModelSpec] = {}
        self.providers: dict[str, Provider] = {}
        if LOCAL in self._provider_entries:
            problems.error(("providers", LOCAL), f"`{LOCAL}` is built in and cannot be defined", at_key=True)

    def auto(self, dimensions: int | None) -> str | None:
        """The reference that ``auto`` stands for; see ``auto_model``."""
        return auto_model(dimensions, self._environ)

    def resolve(self, reference: str, path: YamlPath) -> ModelSpec | None:
        """What ``reference`` stands for; None when that cannot be said, which is then reported, at ``path`` or at its entry."""
        if reference not in self.models:
            spec = self._resolve(reference, path)
            if spec is None:
                return None
            self.models[reference] = spec
        return self.models[reference]

    def _resolve(self, reference: str, path: YamlPath) -> ModelSpec | None:
        provider_name, slash, model = reference.partition("/")
        if slash and model and (provider_name in self._provider_entries or provider_name in PROVIDERS):
            provider = self._provider(provider_name, path)
            return None if provider is None else self._spec(reference, provider, model, RawModel(), path)
        if reference in self._model_entries:
            return self._from_entry(reference)
        if slash:
            self._unknown_provider(provider_name, path)
            return None
        names = list(self._model_entries)
        known = f"; `models:` has {listed(names)}" if names else ""
        problem = f"there is no model {shown(reference)}{meant(reference, names)}; write `provider/model`, or a name under `models:`{known}"
        self._problems.error(path, problem)
        return None

    def _from_entry(self, reference: str) -> ModelSpec | None:
        path: YamlPath = ("models", reference)
        data = self._model_entries[reference]
        self._warn_of_unknown_keys(data, path, frozenset(RawModel.model_fields) | CHAT_KEYS, RawModel)
        raw = read_section(RawModel, data, path, self._problems)
        if not raw.provider or not raw.model:
            if not self._problems.is_wrong(path):
                self._problems.error(path, "needs a `provider` and a `model`", at_key=True)
            return None
        provider = self._provider(raw.provider, (*path, "provider"))
        return None if provider is None else self._spec(reference, provider, raw.model, raw, path)

    def _provider(self, name: str, path: YamlPath) -> Provider | None:
        if name in self._provider_entries and name != LOCAL:
            if name not in self.providers:
                provider = self._custom_provider(name)
                if provider is None:
                    return None
                self.providers[name] = provider
            return self.providers[name]
        if name in PROVIDERS:
            return PROVIDERS[name]
        self._unknown_provider(name, path)
        return None

    def _custom_provider(self, name: str) -> Provider | None:
        path: YamlPath = ("providers", name)
        data = self._provider_entries[name]
        self._warn_of_unknown_keys(data, path, frozenset(RawProvider.model_fields) | CHAT_KEYS | {"max_tokens", "temperature"}, RawProvider)
        raw = read_section(RawProvider, data, path, self._problems)
        if raw.api_type is not None and raw.api_type not in _OPENAI_INTERFACES:
            self._problems.error((*path, "api_type"), f"must be one of {listed(_OPENAI_INTERFACES)}, not {shown(raw.api_type)}")
        if raw.base_url is None and not self._problems.is_wrong(path):
            self._problems.error(path, "needs a `base_url`", at_key=True)
        self._check_access(raw, path)
        return (
            None
            if self._problems.is_wrong(path)
            else Provider(name, Adapter.OPENAI, raw.base_url, raw.token_key, headers=tuple((raw.headers or {}).items()))
        )

    def _spec(self, reference: str, provider: Provider, model: str, raw: RawModel, path: YamlPath) -> ModelSpec | None:
        self._check_access(raw, path)
        base_url = raw.base_url or provider.base_url
        if provider.needs_base_url and base_url is None:
            self._problems.error(path, f"`{provider.name}` needs a `base_url`, in an entry under `models:` or `providers:`")
            return None
        if provider.name == LOCAL and model not in LOCAL_MODELS:
            at = path if raw.model is None else (*path, "model")
            known = listed(f"{LOCAL}/{name}" if raw.model is None else name for name in LOCAL_MODELS)
            self._problems.error(at, f"there is no local model {shown(model)}{meant(model, LOCAL_MODELS)}; known are {known}")
            return None
        return ModelSpec(
            reference=reference,
            provider=provider.name,
            model=model,
            adapter=provider.adapter,
            base_url=base_url,
            token_key=raw.token_key or provider.token_key,
            requests_per_minute=raw.requests_per_minute,
            tokens_per_minute=raw.tokens_per_minute,
            price=_price(raw.price),
            max_tokens=raw.max_tokens,
            temperature=raw.temperature,
            headers=tuple({**dict(provider.headers), **(raw.headers or {})}.items()),
            is_named_endpoint=provider.name in self.providers,
        )

    def _check_access(self, raw: RawModel | RawProvider, path: YamlPath) -> None:
        if raw.base_url is not None and (problem := _problem_of_url(raw.base_url)):
            self._problems.error((*path, "base_url"), problem)
        if raw.token_key is not None and not _VARIABLE.fullmatch(raw.token_key):
            self._problems.error(
                (*path, "token_key"),
                "must be the name of an environment variable (letters, digits, `_`); a secret itself must not stand in the file",
            )
        for name, value in (raw.headers or {}).items():
            if problem := problem_of_header(name, value):
                self._problems.error((*path, "headers", name), problem)

    def _warn_of_unknown_keys(
        self, data: YamlValue, path: YamlPath, known: frozenset[str], model: type[RawModel] | type[RawProvider]
    ) -> None:
        for key in data if isinstance(data, dict) else ():
            if key not in known:
                self._problems.warn((*path, key), f"this key is not known and is ignored{meant(key, model.model_fields)}", at_key=True)

    def _unknown_provider(self, name: str, path: YamlPath) -> None:
        names = [*self._provider_entries, *PROVIDERS]
        problem = (
            f"there is no provider {shown(name)}{meant(name, names)}; known are {listed(names)}; others need an entry under `providers:`"
        )
        self._problems.error(path, problem)

    def _entries(self, source: YamlSource, section: str) -> dict[str, YamlValue]:
        data = source.values.get(section)
        if data is not None and not isinstance(data, dict):
            self._problems.error((section,), not_a("a mapping of names", data))
        return data if isinstance(data, dict) else {}


def _price(raw: RawPrice | float | None) -> Price | None:
    if isinstance(raw, RawPrice):
        return Price(raw.input or 0.0, raw.output or 0.0)
    return None if raw is None else Price(float(raw))


def _problem_of_url(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a URL"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or any(not c.isprintable() or c == " " for c in url):
        return "must be a URL such as `https://llm.example.com/v1`"
    if parts.username is not None or parts.password is not None:
        return "must not hold credentials; name the variable that holds them in `token_key`"
    return None
