"""Skills in folders, beside a whole DevFlow without a window."""

from pathlib import Path

from tests.integration.agent.conftest import (  # noqa: F401 - fixtures
    Bench,
    Processes,
    bench,
    children,
    offline,
    processes,
    server,
    workspace,
)

BODY = "Look for bugs first, style last.\n\nName the line."


def skill(place: Path, name: str, description: str = "Reviews code.", body: str = BODY, folder: str = "") -> Path:
    """Write a skill's folder below a place of skills."""
    made = place / (folder or name)
    made.mkdir(parents=True, exist_ok=True)
    (made / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n", encoding="utf-8")
    return made
