"""Who decides about a call, from the rules alone."""

import pytest

from devflow.domain.errors import InvalidInput
from devflow.domain.run import Risk
from devflow.tools.approval import rule_for
from devflow.tools.patterns import check_pattern, choices
from devflow.tools.policy import AnyRule, BrokenRule, Effect, Rule, Situation, Subject, Verdict, effect_of, verdict

WRITE = Subject("write_file", Risk.WRITES, "src/app.py", is_path=True)


def command(*words: str, rule_allowed: bool = True, line: str = "") -> Subject:
    return Subject("run_command", Risk.RUNS, line or " ".join(words), words, rule_allowed)


def decide(
    *rules: AnyRule, subject: Subject = WRITE, untrusted: bool = False, where: str = "/p", talk: str = "c"
) -> Effect:
    return effect_of(subject, Effect.ASK, Situation(where, talk, rules, untrusted))


def rule(effect: Effect = Effect.ALLOW, pattern: str = "src/*", tool: str = "write_file", **more: object) -> Rule:
    return Rule(effect, tool, "/p", pattern, **more)  # type: ignore[arg-type]


def allows(pattern: str, subject: Subject) -> bool:
    return decide(rule(pattern=pattern, tool=subject.tool), subject=subject) is Effect.ALLOW


def test_without_a_rule_the_tools_own_default_holds() -> None:
    assert decide() is Effect.ASK
    assert effect_of(WRITE, Effect.ALLOW, Situation("/p", "c")) is Effect.ALLOW


def test_deny_beats_ask_beats_allow() -> None:
    allow, ask, deny = rule(), rule(Effect.ASK), rule(Effect.DENY)
    assert decide(allow) is Effect.ALLOW
    assert decide(allow, ask) is Effect.ASK
    assert decide(allow, ask, deny) is decide(deny, allow) is Effect.DENY


def test_a_rule_is_exact_in_tool_workspace_pattern_and_conversation() -> None:
    assert decide(rule(), where="/other") is Effect.ASK
    assert decide(rule(pattern="docs/*")) is Effect.ASK
    assert decide(rule(), subject=Subject("edit_file", Risk.WRITES, "src/app.py", is_path=True)) is Effect.ASK
    assert decide(rule(conversation_id="c")) is Effect.ALLOW
    assert decide(rule(conversation_id="another")) is Effect.ASK


def test_after_untrusted_text_an_allowing_rule_asks_again_unless_it_says_otherwise() -> None:
    assert decide(rule(), untrusted=True) is Effect.ASK
    assert verdict(WRITE, Effect.ASK, Situation("/p", "c", (rule(),), True)) == Verdict(Effect.ASK, "untrusted")
    assert decide(rule(after_untrusted=True), untrusted=True) is Effect.ALLOW
    assert decide(rule(), rule(after_untrusted=True), untrusted=True) is Effect.ALLOW
    assert decide(rule(Effect.DENY), untrusted=True) is Effect.DENY


def test_reading_is_not_asked_about_again_after_untrusted_text() -> None:
    reads = Subject("read_file", Risk.READS, "src/app.py", is_path=True)
    assert decide(rule(tool="read_file"), subject=reads, untrusted=True) is Effect.ALLOW


@pytest.mark.parametrize("pattern", ["", "*", "**", "**/*", "/", ".", "*.*", "?", "  ", "[!a]*", "*/*"])
def test_a_pattern_that_means_everything_is_refused_to_a_rule_that_allows(pattern: str) -> None:
    with pytest.raises(InvalidInput):
        check_pattern(pattern)


def test_a_rule_that_denies_may_mean_everything_of_a_tool() -> None:
    assert check_pattern("*", allows=False) == "*"
    assert decide(rule(Effect.DENY, "*")) is Effect.DENY
    assert decide(rule(Effect.DENY, "*", tool="run_command"), subject=command("ls")) is Effect.DENY


# files


def test_allow_always_means_exactly_this_file_whatever_its_name() -> None:
    odd = Subject("write_file", Risk.WRITES, "src/[a]*.py", is_path=True)
    made = rule_for(odd, "/p")
    assert made is not None
    assert decide(made, subject=odd) is Effect.ALLOW
    for other in ("src/[a]b.py", "src/a1.py", "src/[a]*.py/x"):
        assert decide(made, subject=Subject("write_file", Risk.WRITES, other, is_path=True)) is Effect.ASK


def test_a_star_stays_within_its_folder() -> None:
    def file(path: str) -> Subject:
        return Subject("write_file", Risk.WRITES, path, is_path=True)

    assert allows("src/*", file("src/app.py"))
    assert not allows("src/*", file("src/deep/app.py"))
    assert not allows("src/*", file("srcs/app.py"))
    assert allows("src/**", file("src/deep/app.py"))
    assert not allows("src/**", file("src"))
    assert not allows("src/*", file("SRC/app.py"))


def test_for_a_file_this_file_and_its_folder_are_offered_and_never_the_whole_workspace() -> None:
    assert choices("src/app.py", (), is_path=True) == ("src/app.py", "src/*")
    assert choices("app.py", (), is_path=True) == ("app.py",)
    assert choices("a[1]/b*.py", (), is_path=True) == ("a[[]1]/b[*].py", "a[[]1]/*")


@pytest.mark.parametrize("path", ["secrets/key.txt", "Secrets/deep/key.txt", "SECRETS/KEY.TXT"])
def test_a_denied_folder_is_denied_with_what_is_below_it_however_it_is_spelled(path: str) -> None:
    subject = Subject("write_file", Risk.WRITES, path, is_path=True)
    for pattern in ("secrets", "secrets/", "secrets/**"):
        assert decide(rule(Effect.DENY, pattern), subject=subject) is Effect.DENY


# commands


def test_a_commands_rule_is_its_words_and_only_a_star_at_the_end_lets_more_follow() -> None:
    assert allows("git status", command("git", "status"))
    assert not allows("git status", command("git", "status", "-s"))
    assert allows("git status *", command("git", "status", "-s"))
    assert allows("git status *", command("git", "status"))
    assert not allows("git status *", command("git", "statusx"))
    assert not allows("git status *", command("git", "push"))
    assert not allows("git status *", command("git", "-c", "alias.status=!sh", "status"))


@pytest.mark.parametrize("line", ["git status; rm x", "git status && rm x", "git status $(rm x)", "git status\nrm x"])
def test_always_allow_git_status_never_covers_a_line_with_operators(line: str) -> None:
    assert not allows("git status *", Subject("run_command", Risk.RUNS, line, (), rule_allowed=False))
    assert not allows("git status *", command("git", "status;", "rm", "x", line=line))
    assert not allows(line, Subject("run_command", Risk.RUNS, line, (), rule_allowed=False))


def test_no_rule_allows_an_interpreter_though_one_was_stored_by_hand() -> None:
    run = command("python3", "-c", "x", rule_allowed=False)
    assert not allows("python3 *", run)
    assert decide(rule(Effect.DENY, "python3 *", tool="run_command"), subject=run) is Effect.DENY
    assert rule_for(run, "/p") is None


def test_a_rule_that_denies_a_program_is_held_against_shell_lines_too() -> None:
    line = Subject("run_command", Risk.RUNS, "rm -rf build | cat", (), rule_allowed=False)
    assert decide(rule(Effect.DENY, "rm *", tool="run_command"), subject=line) is Effect.DENY


@pytest.mark.parametrize(
    "words, offered",
    [
        (("git", "status"), ("git status", "git status *")),
        (("git", "stash", "list", "-p"), ("git stash list -p", "git stash list *", "git stash *")),
        (("pytest",), ("pytest", "pytest *")),
        (("pytest", "-x", "tests"), ("pytest -x tests",)),
        (("ls", "*"), ("ls '*'",)),
        (("rm", "-rf", "build"), ("rm -rf build",)),
        (("rm", "build"), ("rm build",)),
        (("/bin/rm", "build"), ("/bin/rm build",)),
    ],
)
def test_the_first_words_that_are_offered_are_program_and_subcommand(
    words: tuple[str, ...], offered: tuple[str, ...]
) -> None:
    assert choices(" ".join(words), words, is_path=False) == offered
    for pattern in offered:
        assert allows(pattern, command(*words))


def test_a_word_that_is_a_star_is_no_pattern() -> None:
    (exact,) = choices("ls '*'", ("ls", "*"), is_path=False)
    assert not allows(exact, command("ls", "secret"))


# broken rules


def test_a_rule_that_cannot_be_read_asks_or_denies_and_never_allows() -> None:
    assert effect_of(WRITE, Effect.ALLOW, Situation("/p", "c", (BrokenRule(5, Effect.ASK),))) is Effect.ASK
    assert decide(rule(), BrokenRule({}, Effect.ASK, "write_file", "/p")) is Effect.ASK
    assert decide(rule(), BrokenRule({}, Effect.ASK, "run_command")) is Effect.ALLOW
    assert decide(rule(), BrokenRule({}, Effect.DENY, "write_file")) is Effect.DENY
