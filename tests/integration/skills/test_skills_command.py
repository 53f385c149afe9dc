"""`devflow skills list` and `devflow ask --skill`, as real processes."""

import os
import subprocess
import sys
from pathlib import Path

from devflow.app.core import opened
from devflow.app.paths import app_paths
from devflow.domain.provider import ProviderDraft
from tests.fakes.openai_server import OpenAIServer
from tests.integration.skills.conftest import BODY, skill
from tests.support.commands import ROOT, devflow


def test_the_list_tells_of_every_folder_also_of_what_cannot_be_used(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    skill(project / ".agents/skills", "review", "Reviews the project.")
    hidden = skill(home / "skills", "review", "Reviews anything.")
    broken = home / "skills/broken"
    broken.mkdir()
    (broken / "SKILL.md").write_text("no front matter", encoding="utf-8")
    listed = devflow(home, "skills", "list", "--workspace", str(project))
    assert listed.code == 0
    (line,) = listed.out.splitlines()
    assert line.startswith("review  (project, ")
    assert line.endswith("Reviews the project.")
    assert f"{hidden} is hidden by another skill named review." in listed.err
    assert "does not begin with name and description" in listed.err
    first, second, third = devflow(home, "skills", "list", "--workspace", str(project), "--json").value
    assert (first["name"], first["source"], first["shadowed"], first["problem"]) == ("review", "project", False, None)
    assert (second["folder"], second["shadowed"]) == (str(hidden), True)
    assert (third["folder"], third["name"], third["problem"]["code"]) == (str(broken), None, "unusable_skill")


def test_without_any_it_says_where_one_would_be_found(home: Path) -> None:
    listed = devflow(home, "skills", "list")
    assert listed.out == ""
    assert str(home / "skills") in listed.err


def test_folders_that_programs_share_are_looked_at_below_the_users_home(home: Path, tmp_path: Path) -> None:
    skill(tmp_path / "me/.claude/skills", "claude")
    skill(tmp_path / "me/.agents/skills", "agents")
    env = {**os.environ, "HOME": str(tmp_path / "me"), "USERPROFILE": str(tmp_path / "me")}
    del env["DEVFLOW_SHARED_SKILLS"]
    command = [sys.executable, "-m", "devflow", "--home", str(home), "skills", "list"]
    listed = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert [line.partition("  ")[0] for line in listed.stdout.splitlines()] == ["agents", "claude"]


async def test_a_question_is_asked_with_a_skill(home: Path, server: OpenAIServer) -> None:
    skill(home / "skills", "review")
    async with opened(app_paths(home)) as core:
        await core.models.add(ProviderDraft("Scripted", server.base_url, models=("scripted",)))
    server.script("Done.")
    asked = devflow(home, "ask", "--skill", "review", "--json", "Look at this.")
    assert asked.value["answer"] == "Done."
    assert asked.value["skill"] == {"name": "review", "source": "user"}
    assert BODY in server.requests[0].system
    assert server.requests[0].last_user == "Look at this."


def test_without_a_model_it_is_said_that_nobody_follows_the_skill(home: Path) -> None:
    skill(home / "skills", "review")
    asked = devflow(home, "ask", "--skill", "review", "Look at this.")
    assert asked.code == 0
    assert "does not follow skills" in asked.err


async def test_a_skill_that_is_not_there_makes_no_conversation(home: Path) -> None:
    asked = devflow(home, "ask", "--skill", "nope", "Look at this.")
    assert (asked.code, asked.out) == (1, "")
    assert "There is no skill nope here." in asked.err
    async with opened(app_paths(home)) as core:
        assert await core.conversations.list() == ()
