import pytest

from devflow.domain.errors import InvalidInput
from devflow.domain.run import Risk
from devflow.tools.policy import Effect, Rule, Situation, Subject, check_pattern, effect_of, rule_for

WRITE = Subject("write_file", Risk.WRITES, "src/app.py")


def decide(
    *rules: Rule, subject: Subject = WRITE, untrusted: bool = False, where: str = "/p", talk: str = "c"
) -> Effect:
    return effect_of(subject, Effect.ASK, Situation(where, talk, rules, untrusted))


def rule(effect: Effect = Effect.ALLOW, pattern: str = "src/*", **more: object) -> Rule:
    return Rule(effect, "write_file", "/p", pattern, **more)  # type: ignore[arg-type]


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
    assert decide(rule(), subject=Subject("run_command", Risk.RUNS, "src/app.py")) is Effect.ASK
    assert decide(rule(conversation_id="c")) is Effect.ALLOW
    assert decide(rule(conversation_id="another")) is Effect.ASK


def test_after_untrusted_text_an_allowing_rule_asks_again_unless_it_says_otherwise() -> None:
    assert decide(rule(), untrusted=True) is Effect.ASK
    assert decide(rule(after_untrusted=True), untrusted=True) is Effect.ALLOW
    assert decide(rule(Effect.DENY), untrusted=True) is Effect.DENY


@pytest.mark.parametrize("pattern", ["", "*", "**", "**/*", "/", ".", "*.*", "?", "  "])
def test_a_pattern_that_means_everything_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInput):
        check_pattern(pattern)


def test_allow_always_means_exactly_this_file_whatever_its_name() -> None:
    odd = Subject("write_file", Risk.WRITES, "src/[a]*.py")
    made = rule_for(odd, "/p")
    assert decide(made, subject=odd) is Effect.ALLOW
    assert decide(made, subject=Subject("write_file", Risk.WRITES, "src/[a]b.py")) is Effect.ASK
    assert decide(made, subject=Subject("write_file", Risk.WRITES, "src/a1.py")) is Effect.ASK
