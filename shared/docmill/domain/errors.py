"""Every error that docmill raises on purpose.

DocmillError
 ├── ConfigurationError            configuration.invalid       exit 2
 │    ├── ConfigurationNotFound    configuration.not_found     exit 2
 │    └── NotAvailable             configuration.not_available exit 2  read and valid, not built yet
 │         └── NoAnswerModel       answer.no_model             exit 2
 ├── UsageError                    usage                       exit 2
 ├── DataFolderError               data_folder                 exit 2
 │    ├── DataFolderInUse          data_folder.in_use          exit 3
 │    ├── DataFolderTooNew         data_folder.too_new         exit 2
 │    └── DiskFull                 disk.full                   exit 3
 ├── ServiceDown                   service.down                exit 3  a needed service does not answer
 │    ├── StoreDown                store.down                  exit 3
 │    │    ├── StateLost           store.state_lost            exit 3  the registry is empty: it must be rebuilt
 │    │    └── StateSetBack        store.set_back              exit 3  the registry may have lost what was done last
 │    └── AddressInUse             address.in_use              exit 3
 ├── KnowledgeBaseUnknown          knowledge_base.unknown      exit 2
 ├── DocumentUnknown               document.unknown            exit 1
 ├── RunUnknown                    run.unknown                 exit 1
 ├── QueryInvalid                  query.invalid               exit 2
 ├── AllStrategiesFailed           search.all_strategies_failed exit 3
 ├── StoreRejected                 store.rejected              exit 1  the store refuses this data, whenever it is sent
 │    └── WrongDimension           store.wrong_dimension       exit 2
 ├── DocumentSkipped               document.skipped            a file that is not indexed, with its reason
 ├── RootUnavailable               root.unavailable            exit 3  the documents' mount is not there
 ├── SourceUnreadable              source.unreadable           the disk failed while a file was read
 ├── SourceChanging                source.changing             a file that is being written to; the next attempt may work
 ├── NotLeader                     producer.not_leader         another producer does the work
 ├── Superseded                    attempt.superseded          the attempt lost its lease or its epoch
 ├── DocumentDeadlineExceeded      document.deadline           one document took too long
 └── ProviderError                 provider.error              exit 3
      ├── ProviderRateLimited      provider.rate_limited
      │    └── ProviderLeftAlone   provider.left_alone         not called: it asked to be called later
      ├── ProviderTransient        provider.transient
      ├── TextRefused              provider.text_refused       one text is refused, others are taken
      ├── ProviderPermanent        provider.permanent
      │    └── RunBudgetSpent      provider.budget_spent       the run has spent the tokens that it may
      └── CallCancelled            provider.cancelled          nobody waits for the answer any more

``code`` is the same in the CLI, in HTTP problem documents, in logs and in the reference. A message says what happened, to which
file or setting, and what to do.
"""

from collections.abc import Iterator, Sequence
from enum import IntEnum, StrEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What a ``docmill`` process ends with."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    SERVICE_DOWN = 3
    INTERRUPTED = 4


class DocmillError(Exception):
    """Base of all; ``str(error)`` is one line that a user can act on.

    Attributes:
        retry_after_seconds: after how long the same may work, above 0; None where nobody says so.
    """

    code: ClassVar[str] = "internal"
    exit_code: ClassVar[ExitCode] = ExitCode.FINDINGS
    retry_after_seconds: float | None = None


class ConfigurationError(DocmillError):
    """The configuration does not say what docmill needs; the message has one ``file:line:column: ...`` per problem."""

    code = "configuration.invalid"
    exit_code = ExitCode.USAGE


class ConfigurationNotFound(ConfigurationError):
    """No configuration file where one was named or looked for."""

    code = "configuration.not_found"


class NotAvailable(ConfigurationError):
    """A part that is configured correctly but that this version cannot do yet."""

    code = "configuration.not_available"


class NoAnswerModel(NotAvailable):
    """The knowledge base has no chat model to answer questions with."""

    code = "answer.no_model"


class UsageError(DocmillError):
    """A command was called in a way that cannot work."""

    code = "usage"
    exit_code = ExitCode.USAGE


class DataFolderError(DocmillError):
    """The data folder cannot be used."""

    code = "data_folder"
    exit_code = ExitCode.USAGE


class DataFolderInUse(DataFolderError):
    """Another process holds the data folder."""

    code = "data_folder.in_use"
    exit_code = ExitCode.SERVICE_DOWN


class DataFolderTooNew(DataFolderError):
    """The data folder was written by a newer version."""

    code = "data_folder.too_new"


class DiskFull(DataFolderError):
    """No room is left where the data folder is."""

    code = "disk.full"
    exit_code = ExitCode.SERVICE_DOWN


class ServiceDown(DocmillError):
    """A service that is needed does not answer."""

    code = "service.down"
    exit_code = ExitCode.SERVICE_DOWN


class StoreDown(ServiceDown):
    """A store or the registry does not answer; the same call may work later."""

    code = "store.down"


class StateLost(StoreDown):
    """The registry was never opened or has been emptied: nothing can be planned before it is rebuilt from the stores."""

    code = "store.state_lost"


class StateSetBack(StoreDown):
    """Redis was restarted or replaced, so that its last changes may be lost: nothing is done before a new epoch opens the registry."""

    code = "store.set_back"


class AddressInUse(ServiceDown):
    """The address to listen on is taken."""

    code = "address.in_use"


class KnowledgeBaseUnknown(DocmillError):
    """No knowledge base of that name."""

    code = "knowledge_base.unknown"
    exit_code = ExitCode.USAGE


class DocumentUnknown(DocmillError):
    """No document of that id in the knowledge base."""

    code = "document.unknown"


class KeyUnknown(DocmillError):
    """No API key has this id."""

    code = "key.unknown"


class RunUnknown(DocmillError):
    """No run of that id in the knowledge base."""

    code = "run.unknown"


class QueryInvalid(DocmillError):
    """A query that cannot be answered as it was put."""

    code = "query.invalid"
    exit_code = ExitCode.USAGE


class AllStrategiesFailed(DocmillError):
    """No strategy of the knowledge base could answer."""

    code = "search.all_strategies_failed"
    exit_code = ExitCode.SERVICE_DOWN

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class StrategyLate(DocmillError):
    """A strategy did not answer within the query's time; the others did."""

    code = "search.strategy_late"
    exit_code = ExitCode.SERVICE_DOWN


class StoreRejected(DocmillError):
    """The store refuses this data and would refuse it again."""

    code = "store.rejected"


class WrongDimension(StoreRejected):
    """A vector's length is not the index's."""

    code = "store.wrong_dimension"
    exit_code = ExitCode.USAGE


class SkipReason(StrEnum):
    """Why a file is not indexed; the values are those of the API, the CLI and the counters.

    ``EMPTY`` is said of documents in that state; no loader raises it: a file without text is loaded as an empty text.
    """

    IGNORED = "ignored"
    TOO_LARGE = "too_large"
    BINARY = "binary"
    SECRET = "secret"
    UNREADABLE = "unreadable"
    NOT_A_FILE = "not_a_file"
    EMPTY = "empty"
    GENERATED = "generated"
    ENCRYPTED = "encrypted"
    SCANNED = "scanned"
    NOT_INSTALLED = "not_installed"
    PARSER_FAILED = "parser_failed"


class DocumentSkipped(DocmillError):
    """A file that is not indexed.

    Attributes:
        reason: the kind, stable.
        detail: one sentence for people.
    """

    code = "document.skipped"

    def __init__(self, reason: SkipReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class RootUnavailable(DocmillError):
    """The folder that holds the documents is not there, or is not the one that was scanned."""

    code = "root.unavailable"
    exit_code = ExitCode.SERVICE_DOWN


class SourceUnreadable(DocmillError):
    """The disk or the mount failed while a file was read; the next attempt may work."""

    code = "source.unreadable"


class SourceChanging(DocmillError):
    """A file kept changing while it was read; the next attempt may work."""

    code = "source.changing"


class NotLeader(DocmillError):
    """The producer does not lead this knowledge base any more; another one does the work."""

    code = "producer.not_leader"
    exit_code = ExitCode.SERVICE_DOWN


class Superseded(DocmillError):
    """The attempt lost its lease or belongs to an older epoch; another one does the work."""

    code = "attempt.superseded"


class DocumentDeadlineExceeded(DocmillError):
    """A document took longer than one document may."""

    code = "document.deadline"


class ProviderError(DocmillError):
    """A model provider did not do what was asked.

    Attributes:
        made: vectors of the first texts that were given, which are paid for and need not be asked for again.
    """

    code = "provider.error"
    exit_code = ExitCode.SERVICE_DOWN
    made: Sequence[Sequence[float]] = ()


class ProviderRateLimited(ProviderError):
    """The provider asks to be called later.

    Attributes:
        retry_after_seconds: how much later, above 0; None where it does not say.
    """

    code = "provider.rate_limited"

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ProviderLeftAlone(ProviderRateLimited):
    """The provider was not called, since it has asked to be called later; ``retry_after_seconds`` is when."""

    code = "provider.left_alone"


class ProviderTransient(ProviderError):
    """The provider failed in a way that may pass.

    Attributes:
        retry_after_seconds: when it says that it may have passed, above 0; None where it does not say.
    """

    code = "provider.transient"

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class TextRefused(ProviderError):
    """The provider refuses one text and takes others: the document that holds it fails, and nothing else does.

    Attributes:
        place: of the text among those that were given, from 0.
        made: see ``ProviderError``; those of all texts before ``place``.
    """

    code = "provider.text_refused"

    def __init__(self, message: str, place: int, made: Sequence[Sequence[float]] = ()) -> None:
        super().__init__(message)
        self.place = place
        self.made = made


class ProviderPermanent(ProviderError):
    """The provider refuses, and would refuse again."""

    code = "provider.permanent"


class RunBudgetSpent(ProviderPermanent):
    """The run has spent as many tokens as ``max_tokens_per_run`` lets it."""

    code = "provider.budget_spent"


class CallCancelled(ProviderError):
    """The call was ended, or not begun, since the process stops or the work was cancelled; it says nothing of the provider."""

    code = "provider.cancelled"


def error_kinds() -> Iterator[type[DocmillError]]:
    """``DocmillError`` and every kind of it that is known in this process; each before its own kinds."""
    waiting: list[type[DocmillError]] = [DocmillError]
    while waiting:
        kind = waiting.pop()
        yield kind
        waiting += kind.__subclasses__()
