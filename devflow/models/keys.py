"""Keys of model servers: in the system's keychain, else in a file that only the user can read.

A key's account is home id + provider id + origin: it belongs to one server of one home, and to no other address. No key
is ever logged, shown, exported or put into the database.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from devflow.domain.errors import InvalidInput, UserFacing
from devflow.domain.ids import new_id
from devflow.domain.messages import N_
from devflow.knowledge.settings import Settings
from devflow.store.lock import one_at_a_time

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

log = logging.getLogger(__name__)

SERVICE = "DevFlow"
NOTICE = N_("Keys are kept in a file only you can read: no system keychain was found")
KEY_MAX = 2_000  # characters; the Windows keychain holds 1,280
_GROUP = "home"

Place = Literal["keychain", "file"]


class Places(Protocol):
    """What is needed of the application's paths."""

    @property
    def keys(self) -> Path: ...


class KeysUnreadable(UserFacing):
    """The file of keys is there and cannot be read or written."""

    code = "keys_unreadable"


async def home_id(settings: Settings) -> str:
    """The id of this data directory, made at first need."""
    known = (await settings.get(_GROUP)).get("id")
    if isinstance(known, str) and known:
        return known

    def with_id(value: object) -> dict[str, object]:
        kept = dict(value) if isinstance(value, dict) else {}
        return kept if kept.get("id") else {**kept, "id": new_id()}

    return str((await settings.modify(_GROUP, with_id))["id"])


def check_key(key: str) -> str:
    """A key as it was pasted, trimmed; raises `InvalidInput` for what can be none. Empty means: no key."""
    trimmed = key.strip()
    if len(trimmed) > KEY_MAX:
        raise InvalidInput(
            "key",
            N_("The key is longer than {limit} characters."),
            N_("Copy it again, without the text around it."),
            limit=KEY_MAX,
        )
    if not trimmed.isascii() or not trimmed.isprintable() or " " in trimmed:
        raise InvalidInput(
            "key",
            N_("The key holds a space or a character that no key has."),
            N_("Copy it again, without the text around it."),
        )
    return trimmed


class Keys:
    """Every call runs on a thread: a keychain may be slow, and may ask the user to unlock it."""

    def __init__(self, paths: Places, home_id: str) -> None:
        self._file = _KeyFile(paths.keys)
        self._home_id = home_id
        self._place: Place | None = None

    @property
    def notice(self) -> str:
        """What the window must say about where keys are (a message id), or an empty string. Known after any call."""
        return NOTICE if self._place == "file" else ""

    async def where(self) -> Place:
        """Where a key that is saved now would go."""
        return await asyncio.to_thread(self._find_place)

    async def get(self, provider_id: str, origin: str) -> str:
        """The key, or an empty string."""
        return await asyncio.to_thread(self._get, self._account(provider_id, origin))

    async def put(self, provider_id: str, origin: str, key: str) -> None:
        """Keep the key; an empty one is forgotten."""
        account = self._account(provider_id, origin)
        await asyncio.to_thread(self._put if key else self._forget, account, key)

    async def forget(self, provider_id: str, origin: str) -> None:
        await asyncio.to_thread(self._forget, self._account(provider_id, origin), "")

    def _account(self, provider_id: str, origin: str) -> str:
        return f"{self._home_id}:{provider_id}:{origin}"

    # on a thread ---------------------------------------------------------------------------------------------------

    def _find_place(self) -> Place:
        if self._place is None:
            self._place = "keychain" if _keychain() is not None else "file"
        return self._place

    def _get(self, account: str) -> str:
        stored: str | None = None
        if self._find_place() == "keychain":
            stored = self._ask(lambda backend: backend.get_password(SERVICE, account))
        return stored or self._file.read().get(account, "")

    def _put(self, account: str, key: str) -> None:
        if self._find_place() == "keychain":
            self._ask(lambda backend: backend.set_password(SERVICE, account, key))
            if self._ask(lambda backend: backend.get_password(SERVICE, account)) == key:
                self._file.change(account, None)
                return
            self._place = "file"
        self._file.change(account, key)

    def _forget(self, account: str, _key: str) -> None:
        if self._find_place() == "keychain" and self._ask(lambda backend: backend.get_password(SERVICE, account)):
            self._ask(lambda backend: backend.delete_password(SERVICE, account))
        self._file.change(account, None)

    def _ask(self, act: Callable[[KeyringBackend], str | None]) -> str | None:
        """Ask the keychain; one that fails (locked, refused, gone) counts as none, and the file takes over."""
        backend = _keychain()
        try:
            return act(backend) if backend is not None else None
        except Exception as error:  # noqa: BLE001 - backends raise whatever their libraries raise
            # Only the type: a message might quote what was to be kept.
            log.info("the keychain failed (%s); keys go to the file", type(error).__name__)
            self._place = "file"
            return None


def _keychain() -> KeyringBackend | None:
    """The system's keychain, or None where keyring has only a stand-in that keeps nothing, or keeps it openly."""
    import keyring
    import keyring.backends.fail
    import keyring.backends.null

    backend = keyring.get_keyring()
    stands_in = isinstance(backend, keyring.backends.fail.Keyring | keyring.backends.null.Keyring)
    if stands_in or type(backend).__module__.startswith("keyrings.alt"):
        return None
    if not getattr(backend, "backends", True):  # a chain of none
        return None
    return backend


class _KeyFile:
    """`keys.json`, mode 0600: account → key. Written whole, beside it, and moved into place.

    Read, changed and written under a lock: of two windows that save a key at once, neither undoes the other's.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = path.with_name(f"{path.stem}.lock")

    def read(self) -> dict[str, str]:
        try:
            value = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise self._unreadable(error) from None
        if not isinstance(value, dict):
            raise self._unreadable(None)
        return {str(account): key for account, key in value.items() if isinstance(key, str)}

    def change(self, account: str, key: str | None) -> None:
        if key is None and account not in self.read():
            return  # nothing to forget: no file is made for it
        try:
            with one_at_a_time(self._lock):
                known = self.read()
                if known.get(account) != key:
                    self._write({**known, account: key})
        except OSError as error:
            raise KeysUnreadable(
                N_("The file of keys {path} cannot be written: {reason}."),
                N_("Check its folder and the free space, then enter the key again."),
                path=self._path,
                reason=error.strerror or error,
            ) from None

    def _write(self, keys: dict[str, str | None]) -> None:
        # mkstemp makes the file with mode 0600 before anything is in it.
        descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=".keys-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump({account: key for account, key in keys.items() if key is not None}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _unreadable(self, error: Exception | None) -> KeysUnreadable:
        return KeysUnreadable(
            N_("The file of keys {path} cannot be read: {reason}."),
            N_("Mend or remove it, then enter the keys again in Settings, under Providers."),
            path=self._path,
            reason=error.strerror if isinstance(error, OSError) else "it does not hold keys",
        )
