"""`.gitignore` as git reads it: each case was compared with `git ls-files --others --exclude-standard`."""

import time

import pytest

from devflow.tools.ignore_rules import glob_rules, ignore_rule, ignore_rules, verdict


@pytest.mark.parametrize(
    "pattern, path, ignored",
    [
        ("*.log", "a.log", True),
        ("*.log", "deep/a.log", True),
        ("*.log", "a.log.txt", False),
        ("/a.log", "deep/a.log", False),
        ("deep/*.log", "deep/a.log", True),
        ("deep/*.log", "x/deep/a.log", False),
        ("deep/*.log", "deep/x/a.log", False),
        ("build/", "build", False),
        ("build/", "build/", True),
        ("build/", "src/build/", True),
        ("**/x", "a/b/x", True),
        ("**/x", "x", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**", "a/", False),
        ("a/**", "a/x", True),
        ("a**b", "axxb", True),
        ("a**/b", "axx/b", True),
        ("?", "a", True),
        ("?", "ab", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[^a-c]x", "dx", True),
        ("[]z]", "]", True),
        ("[[:alpha:]]", "b", True),
        ("[[:digit:]]", "b", False),
        ("[a-", "a", False),
        (r"a\*", "a*", True),
        (r"a\*", "ab", False),
        ("a\\", "a", False),
        ("# no", "# no", False),
        (r"\#yes", "#yes", True),
        (r"\!yes", "!yes", True),
        ("a ", "a", True),
        ("a\\ ", "a ", True),
        ("a\r", "a", True),
        ("", "a", False),
        ("/", "a", False),
        (".*", ".hidden", True),
    ],
)
def test_a_pattern_is_read_as_git_reads_it(pattern: str, path: str, ignored: bool) -> None:
    parts = tuple(path.removesuffix("/").split("/"))
    assert bool(verdict(ignore_rules(pattern), parts, folder=path.endswith("/"))) is ignored


def test_the_last_rule_that_matches_counts() -> None:
    rules = ignore_rules("*.log\n!keep.log\n/keep.log\n")
    assert verdict(rules, ("a.log",), folder=False) is True
    assert verdict(rules, ("x", "keep.log"), folder=False) is False
    assert verdict(rules, ("keep.log",), folder=False) is True
    assert verdict(rules, ("keep.txt",), folder=False) is None


@pytest.mark.parametrize("pattern", ["*a" * 100 + "b", "**/" * 200 + "b", "?*" * 100 + "b", "[a]*" * 100 + "b"])
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    rule = ignore_rule(pattern)
    assert rule is not None
    started = time.monotonic()
    assert not rule.matches(("a" * 255,) * 60, folder=False)
    assert time.monotonic() - started < 1


@pytest.mark.parametrize(
    "glob, path, matches",
    [
        ("*.py", "src/a.py", True),
        ("*.{ts,tsx}", "src/a.tsx", True),
        ("*.{ts,tsx}", "src/a.py", False),
        ("src/**/*.py", "src/deep/a.py", True),
        ("src/**/*.py", "src/a.py", True),
        ("{src,tests}/*.{py,pyi}", "tests/a.pyi", True),
        ("docs/", "docs/a.md", True),
        ("{a", "{a", True),
        ("{" + "x," * 500 + "y}", "x", True),
    ],
)
def test_a_glob_chooses_files(glob: str, path: str, matches: bool) -> None:
    assert any(rule.matches(tuple(path.split("/")), folder=False) for rule in glob_rules(glob)) is matches
