import os
from pathlib import Path

import pytest

from docmill.documents.ignoring import Rule
from docmill.documents.selection import Refusal, Selection, Verdict
from docmill.domain.errors import DocumentSkipped, SkipReason
from docmill.domain.knowledge_bases import KnowledgeBase
from support.trees import bm25, knowledge_base, plant, scanned


def verdict(kb: KnowledgeBase, path: Path, data_folder: Path | None = None) -> Verdict:
    return Selection(kb, data_folder).verdict(os.fsencode(path))


def refusal(kb: KnowledgeBase, path: Path, data_folder: Path | None = None) -> Refusal:
    found = verdict(kb, path, data_folder).refusal
    assert found is not None
    return found


class TestRoots:
    def test_a_folder_means_everything_in_it(self, tmp_path: Path) -> None:
        plant(tmp_path, ["docs/a.md", "docs/sub/b.md", "docs/.hidden.md", "other/c.md"])
        assert scanned(knowledge_base(tmp_path, tmp_path / "docs")) == ["docs/.hidden.md", "docs/a.md", "docs/sub/b.md"]

    def test_a_file_means_that_file(self, tmp_path: Path) -> None:
        plant(tmp_path, ["docs/a.md", "docs/b.md"])
        assert scanned(knowledge_base(tmp_path, tmp_path / "docs/a.md")) == ["docs/a.md"]

    @pytest.mark.parametrize(
        ("glob", "expected"),
        [
            ("*.md", ["a.md"]),
            ("**/*.md", ["a.md", "deep/er/d.md", "sub/b.md"]),
            ("**/*.{md,txt}", ["a.md", "deep/er/d.md", "sub/b.md", "sub/c.txt"]),
            ("{sub,deep/er}/?.md", ["deep/er/d.md", "sub/b.md"]),
            ("*/[bc].*", ["sub/b.md", "sub/c.txt"]),
            ("*/[!b].*", ["sub/c.txt"]),
            ("su*", ["sub/b.md", "sub/c.txt"]),
            ("deep/**", ["deep/er/d.md", "deep/er/e.py"]),
            ("*/*/*.md", ["deep/er/d.md"]),
            ("**/er/*.py", ["deep/er/e.py"]),
            ("nothing/*.md", []),
        ],
    )
    def test_a_glob_means_what_matches_it_and_matching_folders_wholly(self, glob: str, expected: list[str], tmp_path: Path) -> None:
        plant(tmp_path, ["a.md", "sub/b.md", "sub/c.txt", "deep/er/d.md", "deep/er/e.py"])
        assert scanned(knowledge_base(tmp_path, f"{tmp_path}/{glob}")) == expected

    def test_a_glob_does_not_enter_folders_in_which_nothing_can_match(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a/b/c.md", "x/y/z.md"])
        selection = Selection(knowledge_base(tmp_path, f"{tmp_path}/a/*/*.md", f"{tmp_path}/x*/y/z.md"), None)
        folder = selection.enter(os.fsencode(tmp_path)).listed(None)
        assert selection.child(folder, b"other") is None
        inner = selection.child(folder, b"x")
        assert inner is not None
        assert selection.child(inner, b"other") is None

    def test_a_path_that_exists_is_no_glob(self, tmp_path: Path) -> None:
        plant(tmp_path, ["[glob]*.md", "g1.md"])
        assert scanned(knowledge_base(tmp_path, tmp_path / "[glob]*.md")) == ["[glob]*.md"]

    def test_an_excluding_root_wins_over_all_others(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a.md", "a.draft.md", "drafts/b.md", "x/drafts/c.md", "named.draft.md"])
        kb = knowledge_base(tmp_path, tmp_path, tmp_path / "named.draft.md", f"!{tmp_path}/drafts", f"!{tmp_path}/**/*.draft.md")
        assert scanned(kb) == ["a.md", "x/drafts/c.md"]
        assert refusal(kb, tmp_path / "drafts/b.md").rule == Rule("", 0, f"!{tmp_path}/drafts")

    def test_overlapping_roots_give_each_file_once(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a.md", "sub/b.md", "sub/deep/c.md"])
        kb = knowledge_base(tmp_path, tmp_path, tmp_path / "sub", f"{tmp_path}/**/*.md", tmp_path / "sub/deep/c.md")
        assert scanned(kb) == ["a.md", "sub/b.md", "sub/deep/c.md"]

    def test_what_is_under_no_root_is_not_selected(self, tmp_path: Path) -> None:
        plant(tmp_path, ["docs/a.md", "docs2/b.md"])
        found = refusal(knowledge_base(tmp_path, tmp_path / "docs"), tmp_path / "docs2/b.md")
        assert (found.reason, found.rule) == (SkipReason.IGNORED, None)

    def test_documents_outside_the_base_folder_have_absolute_ids(self, tmp_path: Path) -> None:
        plant(tmp_path, ["base/a.md", "outside/b.md"])
        kb = knowledge_base(tmp_path / "base", tmp_path / "base", tmp_path / "outside")
        assert scanned(kb) == ["a.md", f"{tmp_path}/outside/b.md"]


class TestStrategies:
    def test_strategies_with_roots_of_their_own_index_only_those(self, tmp_path: Path) -> None:
        plant(tmp_path, ["docs/a.md", "src/b.py", "src/b.md"])
        strategies = (bm25("words"), bm25("code", f"{tmp_path}/src/*.py"))
        selection = Selection(knowledge_base(tmp_path, tmp_path, strategies=strategies), None)
        assert selection.strategies_for(os.fsencode(tmp_path / "src/b.py")) == ("words", "code")
        assert selection.strategies_for(os.fsencode(tmp_path / "src/b.md")) == ("words",)

    def test_a_file_that_only_one_strategy_wants_is_scanned(self, tmp_path: Path) -> None:
        plant(tmp_path, ["docs/a.md", "src/b.py"])
        strategies = (bm25("words", tmp_path / "docs"), bm25("code", tmp_path / "src"))
        assert scanned(knowledge_base(tmp_path, strategies=strategies)) == ["docs/a.md", "src/b.py"]

    def test_a_strategy_may_disregard_version_control_where_another_does_not(self, tmp_path: Path) -> None:
        plant(tmp_path, {".gitignore": "*.log\n", "a.log": ""})
        strategies = (bm25("careful"), bm25("all", respect_vcs=False))
        selection = Selection(knowledge_base(tmp_path, strategies=strategies), None)
        assert selection.strategies_for(os.fsencode(tmp_path / "a.log")) == ("all",)


class TestIgnoreFiles:
    def test_the_rule_that_ignores_a_file_is_told_with_its_line(self, tmp_path: Path) -> None:
        plant(tmp_path, {"sub/.gitignore": "# logs\n*.log\n", "sub/a.log": ""})
        found = refusal(knowledge_base(tmp_path), tmp_path / "sub/a.log")
        assert found.rule == Rule(f"{tmp_path}/sub/.gitignore", 2, "*.log")
        assert found.reason is SkipReason.IGNORED

    def test_a_file_in_an_ignored_folder_has_the_folders_rule(self, tmp_path: Path) -> None:
        plant(tmp_path, {".gitignore": "build/\n!keep.md\n", "build/x/keep.md": ""})
        assert refusal(knowledge_base(tmp_path), tmp_path / "build/x/keep.md").rule == Rule(f"{tmp_path}/.gitignore", 1, "build/")

    def test_version_control_may_be_disregarded_but_not_our_own_ignore_file(self, tmp_path: Path) -> None:
        plant(tmp_path, {".gitignore": "*.log\n", ".docmillignore": "*.tsv\n", "a.log": "", "b.tsv": ""})
        assert scanned(knowledge_base(tmp_path, respect_vcs=False)) == [".docmillignore", ".gitignore", "a.log"]

    def test_our_own_ignore_file_can_take_back_what_git_ignores(self, tmp_path: Path) -> None:
        plant(tmp_path, {".gitignore": "/site/\n*.log\n", ".docmillignore": "!/site/\n", "site/a.md": "", "site/a.log": ""})
        assert scanned(knowledge_base(tmp_path)) == [".docmillignore", ".gitignore", "site/a.md"]

    def test_a_changed_ignore_file_counts_at_once(self, tmp_path: Path) -> None:
        plant(tmp_path, {".gitignore": "*.md\n", "a.md": ""})
        selection = Selection(knowledge_base(tmp_path), None)
        assert not selection.strategies_for(os.fsencode(tmp_path / "a.md"))
        plant(tmp_path, {".gitignore": "*.text\n"})
        assert selection.strategies_for(os.fsencode(tmp_path / "a.md")) == ("bm25",)

    def test_a_named_file_wins_over_ignore_rules(self, tmp_path: Path) -> None:
        plant(tmp_path, {".gitignore": "build/\n*.log\n", "build/a.md": "", "build/b.md": "", "x.log": ""})
        kb = knowledge_base(tmp_path, tmp_path, tmp_path / "build/a.md", tmp_path / "x.log")
        assert scanned(kb) == [".gitignore", "x.log", "build/a.md"]

    def test_a_named_folder_is_entered_although_it_is_ignored_and_its_rules_hold_inside(self, tmp_path: Path) -> None:
        plant(tmp_path, {".gitignore": "build/\n*.log\n", "build/a.md": "", "build/b.log": ""})
        assert scanned(knowledge_base(tmp_path, tmp_path, tmp_path / "build")) == [".gitignore", "build/a.md"]

    def test_an_ignore_file_that_is_a_pipe_is_not_opened(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a.md"])
        os.mkfifo(tmp_path / ".gitignore")
        assert scanned(knowledge_base(tmp_path)) == ["a.md"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_what_an_unreadable_ignore_file_says_nobody_knows(self, tmp_path: Path) -> None:
        plant(tmp_path, {".gitignore": "*.log\n", "a.md": ""})
        (tmp_path / ".gitignore").chmod(0)
        kb = knowledge_base(tmp_path)
        assert refusal(kb, tmp_path / "a.md").reason is SkipReason.UNREADABLE
        with pytest.raises(DocumentSkipped):
            Selection(kb, None).strategies_for(os.fsencode(tmp_path / "a.md"))

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_in_a_folder_that_may_not_be_entered_is_unreadable(self, tmp_path: Path) -> None:
        plant(tmp_path, ["closed/a.md"])
        (tmp_path / "closed").chmod(0)
        try:
            assert refusal(knowledge_base(tmp_path), tmp_path / "closed/a.md").reason is SkipReason.UNREADABLE
        finally:
            (tmp_path / "closed").chmod(0o700)


class TestNever:
    @pytest.mark.parametrize(
        "name",
        [
            ".env",
            ".env.production",
            "id_rsa",
            "id_ed25519.bak",
            "server.PEM",
            "tls.key",
            ".netrc",
            ".pgpass",
            ".npmrc",
            "credentials.json",
            ".aws/credentials",
            ".docker/config.json",
            "store.p12",
            ".git-credentials",
            "vault.kdbx",
        ],
    )
    def test_secrets_are_not_indexed(self, name: str, tmp_path: Path) -> None:
        plant(tmp_path, [name, "a.md"])
        kb = knowledge_base(tmp_path)
        assert scanned(kb) == ["a.md"]
        assert refusal(kb, tmp_path / name).reason is SkipReason.SECRET

    @pytest.mark.parametrize("name", [".env.example", "id_rsa.pub", "keys.md", "environment.md", "config.json", "pem", "monkey"])
    def test_what_only_resembles_a_secret_is_indexed(self, name: str, tmp_path: Path) -> None:
        plant(tmp_path, [name])
        assert scanned(knowledge_base(tmp_path)) == [name]

    def test_a_secret_is_indexed_when_it_is_named_or_secrets_are_allowed(self, tmp_path: Path) -> None:
        plant(tmp_path, [".env", "tls.key"])
        assert scanned(knowledge_base(tmp_path, tmp_path, tmp_path / ".env")) == [".env"]
        assert scanned(knowledge_base(tmp_path, allow_secrets=True)) == [".env", "tls.key"]

    def test_a_glob_names_no_secret(self, tmp_path: Path) -> None:
        plant(tmp_path, [".env", "a.md"])
        assert scanned(knowledge_base(tmp_path, f"{tmp_path}/*", f"{tmp_path}/.e*")) == ["a.md"]

    @pytest.mark.parametrize(
        "name", [".git/config", "sub/.git", ".hg/store", "__pycache__/m.pyc", ".docmill/lock", "a.md~", ".a.md.swp", "4913"]
    )
    def test_version_control_caches_and_editors_files_are_left_out(self, name: str, tmp_path: Path) -> None:
        plant(tmp_path, [name, "a.md"])
        kb = knowledge_base(tmp_path, respect_vcs=False)
        assert scanned(kb) == ["a.md"]
        assert refusal(kb, tmp_path / name).reason is SkipReason.IGNORED

    @pytest.mark.parametrize(
        ("name", "pattern"),
        [("a.md~", "*~"), (".a.md.swp", ".*.sw?"), (".#a.md", ".#*"), ("#a.md#", "#*#"), ("a.tmp", "*.tmp"), ("4913", "4913")],
    )
    def test_why_an_editors_file_is_left_out_names_its_pattern(self, name: str, pattern: str, tmp_path: Path) -> None:
        plant(tmp_path, [name])
        refused = refusal(knowledge_base(tmp_path), tmp_path / name)
        assert (refused.rule, refused.detail) == (Rule("", 0, pattern), f"such files are never indexed ({pattern})")

    def test_the_data_folder_is_left_out(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a.md", "index/segment", "sub/index/kept.md"])
        kb = knowledge_base(tmp_path)
        assert scanned(kb, tmp_path / "index") == ["a.md", "sub/index/kept.md"]
        assert refusal(kb, tmp_path / "index/segment", tmp_path / "index").rule == Rule("", 0, f"{tmp_path}/index/")

    @pytest.mark.parametrize(("root", "data_folder"), [("link", "real/index"), ("real", "link/index"), ("link", "link/index")])
    def test_a_link_on_the_way_does_not_hide_the_data_folder(self, tmp_path: Path, root: str, data_folder: str) -> None:
        plant(tmp_path, ["real/a.md", "real/index/segment"])
        (tmp_path / "link").symlink_to("real")
        assert scanned(knowledge_base(tmp_path, tmp_path / root), tmp_path / data_folder) == [f"{root}/a.md"]


class TestKinds:
    def test_what_is_no_regular_file_is_not_a_file(self, tmp_path: Path) -> None:
        plant(tmp_path, ["real.md"])
        os.mkfifo(tmp_path / "pipe.md")
        (tmp_path / "link.md").symlink_to("real.md")
        kb = knowledge_base(tmp_path)
        assert refusal(kb, tmp_path / "pipe.md").reason is SkipReason.NOT_A_FILE
        assert refusal(kb, tmp_path / "link.md").reason is SkipReason.NOT_A_FILE

    def test_a_link_that_is_named_is_followed(self, tmp_path: Path) -> None:
        plant(tmp_path, ["elsewhere/real.md", "docs/a.md"])
        (tmp_path / "docs/link.md").symlink_to(tmp_path / "elsewhere/real.md")
        (tmp_path / "docs/folder").symlink_to(tmp_path / "elsewhere")
        kb = knowledge_base(tmp_path, tmp_path / "docs", tmp_path / "docs/link.md", tmp_path / "docs/folder")
        assert scanned(kb) == ["docs/a.md", "docs/link.md", "docs/folder/real.md"]

    def test_a_file_that_is_not_there_is_judged_by_its_name(self, tmp_path: Path) -> None:
        plant(tmp_path, {".gitignore": "*.log\n"})
        kb = knowledge_base(tmp_path)
        assert verdict(kb, tmp_path / "to_come.md").selected
        assert not verdict(kb, tmp_path / "to_come.log").selected
