"""Explaining: what is known of one path in one knowledge base: by what is indexed, by the rules, and by the file itself."""

# Paths are bytes here, which pathlib does not take.

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from docmill.adapters.files import FileSource
from docmill.bootstrap import document_loader
from docmill.documents.identity import document_id_of, folder_prefix_of
from docmill.documents.selection import Refusal, Selection, Verdict
from docmill.domain.errors import DocmillError, DocumentSkipped, DocumentUnknown, SkipReason
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill_services.cli.api import Api, ApiError
from docmill_services.query.documents import cursor_after

#: States of an answer in which a document is, or soon will be, as it should be.
INDEXED_STATES: Final = ("live", "empty", "pending")
NOT_YET: Final = "not indexed yet: the next scan takes it up"
NOT_ASKED: Final = "the rules let it be indexed; whether it is indexed now cannot be asked"
_PAGE: Final = 1000
#: Documents of a folder that are counted; a larger folder has "more than" so many.
_MOST_COUNTED: Final = 20_000

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains paths of one knowledge base.

    Attributes:
        data_folder: never indexed.
        api: of what is indexed; None where nothing answers: then the rules and the files alone decide.
    """

    knowledge_base: KnowledgeBase
    data_folder: Path
    api: Api | None

    def explain(self, path: bytes) -> Answer:
        """What is known of the path (absolute), as ``docmill explain --json`` prints it.

        Raises:
            ApiError, ServiceDown: the query service failed.
            OSError: the disk or the mount failed.
        """
        selection = Selection(self.knowledge_base, self.data_folder)
        if stat.S_ISDIR(_mode_of(path, follow=path in selection.root_paths)):
            return self._explain_folder(path, selection)
        verdict = selection.verdict(path)
        document_id = document_id_of(path, self.knowledge_base.base_folder)
        known = self._known(document_id)
        exists = os.path.lexists(path)
        if verdict.selected and known is not None:
            return _of_known(known)
        if verdict.selected and exists:
            return self._foreseen(document_id)
        return _of_verdict(document_id, verdict, known, exists=exists)

    def _known(self, document_id: str) -> Answer | None:
        if self.api is None:
            return None
        try:
            known: Answer = self.api.get(f"/v1/knowledge-bases/{self.knowledge_base.name}/documents/{quote(document_id, safe='')}")
        except ApiError as error:
            if error.code != DocumentUnknown.code:
                raise
            return None
        return known

    def _foreseen(self, document_id: str) -> Answer:
        """What becomes of a file that is selected and not indexed: it is read as it would be."""
        waiting = NOT_YET if self.api is not None else NOT_ASKED
        try:
            with document_loader() as load:
                source = FileSource(self.knowledge_base, self.data_folder, loader=load)
                content = source.read(document_id)
                if content is not None:
                    source.require_allowed(document_id, source.load(document_id, content.content))
        except DocumentSkipped as skipped:
            reason = f"{skipped.reason}: {skipped.detail}"
            return {"document_id": document_id, "state": "skipped", "reason": reason, "strategies": {}}
        except DocmillError as error:
            waiting = f"{waiting}; it cannot be read now: {error}"
        return {"document_id": document_id, "state": "unknown", "reason": waiting, "strategies": {}}

    def _explain_folder(self, path: bytes, selection: Selection) -> Answer:
        try:
            folder = selection.folder_at(path)
        except PermissionError as error:
            detail = f"the ignore file {os.fsdecode(error.filename)} cannot be read; check its permissions"
            folder = Refusal(SkipReason.UNREADABLE, None, detail)
        is_base = path == os.fsencode(self.knowledge_base.base_folder)
        document_id = "./" if is_base else document_id_of(path, self.knowledge_base.base_folder).rstrip("/") + "/"
        counts: dict[str, int] = {}
        for place, document in enumerate(self._documents_below(document_id)):
            if place >= _MOST_COUNTED:
                counts["more"] = 1
                break
            counts[document["state"]] = counts.get(document["state"], 0) + 1
        if not isinstance(folder, Refusal):
            answer = _of_folder(document_id, "a folder that is looked through; docmill index --dry-run lists what is left out")
        elif any(root.startswith(folder_prefix_of(path)) for root in selection.root_paths):
            answer = _of_folder(document_id, "a folder that is not looked through itself; some of the configured docs lie in it")
        else:
            answer = _of_refusal(document_id, folder)
        return answer | ({} if self.api is None else {"documents": counts}) | {"strategies": {}}

    def _documents_below(self, folder_id: str) -> Iterator[Answer]:
        """What is known of a folder's documents; ``folder_id`` ends with ``/``; that of the base folder, ``./``, has all in it."""
        if self.api is None:
            return
        prefix = "" if folder_id == "./" else folder_id
        cursor = cursor_after(prefix) if prefix else None
        while True:
            page = self.api.get(f"/v1/knowledge-bases/{self.knowledge_base.name}/documents", limit=_PAGE, cursor=cursor)
            for document in page["documents"]:
                if not document["document_id"].startswith(prefix):
                    return
                yield document
            cursor = page["next"]
            if cursor is None:
                return


def _of_known(known: Answer) -> Answer:
    answer: Answer = {"document_id": known["document_id"], "state": known["state"], "stale": known["stale"]}
    answer |= {name: known[name] for name in ("reason", "indexed_at") if known.get(name)}
    return answer | {"strategies": known["strategies"]}


def _of_verdict(document_id: str, verdict: Verdict, known: Answer | None, *, exists: bool) -> Answer:
    """A file that the rules leave out, or that is not there."""
    refusal = verdict.refusal
    if not exists and (refusal is None or refusal.reason is SkipReason.IGNORED):
        answer: Answer = {"document_id": document_id, "state": "unknown", "reason": "there is no such file"}
        return answer | _rule_of(refusal) | {"strategies": {}}
    assert refusal is not None
    answer = _of_refusal(document_id, refusal)
    strategies = known["strategies"] if known is not None else {}
    if strategies:
        answer["reason"] += "; what was indexed of it before goes with the next scan"
    return answer | {"strategies": strategies}


def _of_folder(document_id: str, reason: str) -> Answer:
    return {"document_id": document_id, "state": "folder", "reason": reason}


def _of_refusal(document_id: str, refusal: Refusal) -> Answer:
    return {"document_id": document_id, "state": "skipped", "reason": f"{refusal.reason}: {refusal.detail}"} | _rule_of(refusal)


def _rule_of(refusal: Refusal | None) -> Answer:
    rule = refusal.rule if refusal is not None else None
    return {} if rule is None else {"rule": {"file": rule.file, "line": rule.line, "pattern": rule.pattern}}


def _mode_of(path: bytes, *, follow: bool) -> int:
    try:
        return os.stat(path, follow_symlinks=follow).st_mode
    except OSError:
        return 0  # what cannot be looked at is explained by the rules
