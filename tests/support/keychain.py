"""A keychain in memory, where a test needs one: the system's own is outside of this program."""

from keyring.backend import KeyringBackend


class Keychain(KeyringBackend):
    """Give it to `keyring.get_keyring`; `kept` is what it holds."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]
