"""Conversations: their tokens, which equal values always share, and what was already inspected."""

from __future__ import annotations

import hmac
import threading
import time
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from dlpctl.errors import VaultError
from dlpctl.masking.leaks import Value
from dlpctl.masking.masker import Masker
from dlpctl.masking.repeats import Repeats
from dlpctl.operators.tokens import TokenStore, token_type
from dlpctl.system.recent import Recent
from dlpctl.types import Category, Decision, Finding
from dlpctl.values import derive_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from dlpctl.gateway.jsonbody import Splice

_Kept = TypeVar("_Kept")
_NUMBERS = 900_000
_FIRST_NUMBER = 100_000
_MOST_VALUES = 20_000
_MOST_UNITS = 10_000
_MOST_CONVERSATIONS = 2_048


class KnownValues(Repeats):
    """The values that are masked in a conversation, prepared for searching texts."""

    def learn(self, type_name: str, value: str) -> None:
        finding = Finding(type_name, Category.CUSTOM, 0, len(value), 1.0, "conversation")
        self.add({Value(type_name, Category.CUSTOM, value): finding})

    @property
    def size(self) -> int:
        return len(self._values)


class Tokens(TokenStore):
    """Tokens whose numbers are derived from value and key, so that no process has to remember
    them.
    """

    def __init__(self, key: bytes, given: set[str], known: KnownValues) -> None:
        """`given` collects the names of issued tokens, and `known` their values."""
        self._key = key
        self._given = given
        self._known = known
        super().__init__()

    def add(self, values: Mapping[str, str]) -> None:
        super().add(values)
        for name, value in values.items():
            self._known.learn(name.rpartition("_")[0], value)

    def avoid(self, texts: Iterable[str]) -> None:
        """Do nothing: nobody without the key can predict a name that will be issued."""

    def token(self, type_name: str, value: str) -> str:
        known = self._names.get((token_type(type_name), value))
        if known is None:
            if len(self) >= _MOST_VALUES:
                raise VaultError(
                    f"the conversation has more than {_MOST_VALUES:,} values; start a new one"
                )
            known = self._name(token_type(type_name), value)
            self.add({known: value})
        self._given.add(known)
        return f"<{known}>"

    def _name(self, type_name: str, value: str) -> str:
        for turn in range(_NUMBERS):
            message = f"{type_name}\0{turn}\0{value}".encode("utf-8", "surrogatepass")
            drawn = int.from_bytes(hmac.digest(self._key, message, "sha256")[:8], "big")
            name = f"{type_name}_{_FIRST_NUMBER + drawn % _NUMBERS}"
            if self.value(name) is None:
                return name
        raise VaultError("the conversation has too many values of one type; start a new one")


class ConversationMasker(Masker):
    """A masker that remembers the value of each surrogate."""

    def __init__(self, key: bytes, tokens: Tokens, given: set[str], known: KnownValues) -> None:
        super().__init__(key, tokens)
        self._given = given
        self._known = known
        self.surrogates: dict[str, tuple[str, str]] = {}
        """The surrogates, with the types and values that they replace."""

    def replacement(self, operator: str, type_name: str, category: Category, value: str) -> str:
        made = super().replacement(operator, type_name, category, value)
        if operator == "surrogate" and not made.startswith("["):
            if made not in self.surrogates:
                self.surrogates[made] = (type_name, value)
                self._known.learn(type_name, value)
            self._given.add(made)
        return made


class UnitResult(NamedTuple):
    """The decision on a unit; its splices are relative to the unit's start."""

    decision: Decision = Decision.ALLOWED
    counts: Counter[str] = Counter()  # noqa: RUF012 -- a named tuple's default is never changed
    splices: tuple[Splice, ...] = ()
    reason: str = ""
    """The reason why it cannot be inspected."""
    names: frozenset[str] = frozenset()
    """The names of its tokens, and its surrogates."""


class Conversation:
    """One conversation of one caller. Its lock is held while one of its requests is inspected."""

    def __init__(self, key: bytes) -> None:
        self.lock: threading.Lock = threading.Lock()
        self.key = key
        self.given: set[str] = set()
        """The names of tokens, and the surrogates, that were issued since this was cleared."""
        self.repeats: KnownValues = KnownValues()
        self.tokens: Tokens = Tokens(derive_key(key, "tokens"), self.given, self.repeats)
        self.masker: ConversationMasker = ConversationMasker(
            derive_key(key, "surrogates"), self.tokens, self.given, self.repeats
        )
        self.units: Recent[bytes, UnitResult] = Recent(_MOST_UNITS)
        """The results of units by their digests."""


class Conversations:
    """The most recently used conversations, each kept until unused for its lifetime."""

    def __init__(
        self,
        lifetime: float,
        folder: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`lifetime` is in seconds; with a `folder`, values for later requests are stored there."""
        self._lifetime = lifetime
        self._folder = folder
        self._clock = clock
        self._kept: OrderedDict[bytes, tuple[float, Conversation]] = OrderedDict()
        self._referred: OrderedDict[bytes, tuple[float, Mapping[str, str]]] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, org_key: bytes, *names: str) -> Conversation:
        """Return the conversation of these names: the caller, and what identifies the
        conversation.
        """
        message = "\0".join(names).encode("utf-8", "surrogatepass")
        key = hmac.digest(derive_key(org_key, "conversation"), message, "sha256")
        now = self._clock()
        with self._lock:
            known = self._kept.pop(key, None)
            conversation = Conversation(key) if known is None else known[1]
            self._kept[key] = (now, conversation)
            _expire(self._kept, now - self._lifetime)
        return conversation

    def keep(self, org_key: bytes, name: str, values: Mapping[str, str]) -> None:
        """Keep the values of tokens for requests that refer to an answer by the provider's id."""
        if not values:
            return
        key = _reference(org_key, name)
        now = self._clock()
        with self._lock:
            self._referred[key] = (now, dict(values))
            _expire(self._referred, now - self._lifetime)
        if self._folder is not None:
            from dlpctl.masking.vault import Vault

            vault = Vault(self._folder / f"{key.hex()}.vault", org_key, create=True)
            with vault.transaction():
                vault.add(values)

    def recall(self, org_key: bytes, name: str, conversation: Conversation) -> set[str]:
        """Add the values kept for an id to a conversation, and return the names of their tokens."""
        key = _reference(org_key, name)
        with self._lock:
            _, values = self._referred.get(key, (0.0, {}))
        if not values and self._folder is not None:
            values = self._stored(key, org_key)
        with conversation.lock:
            known = dict(conversation.tokens.items())
            conversation.tokens.add(
                {name: value for name, value in values.items() if name not in known}
            )
        return set(values)

    def _stored(self, key: bytes, org_key: bytes) -> Mapping[str, str]:
        from dlpctl.masking.vault import Vault

        assert self._folder is not None
        path = self._folder / f"{key.hex()}.vault"
        try:
            if not path.exists() or path.stat().st_mtime < time.time() - self._lifetime:
                return {}
            return dict(Vault(path, org_key).items())
        except (VaultError, OSError):
            raise VaultError(
                f"the values of an earlier answer cannot be read: {path.name}"
            ) from None

    def purge(self) -> int:
        """Remove expired vaults, and return their number."""
        removed = 0
        for path in self._folder.glob("*.vault") if self._folder is not None else ():
            if path.stat().st_mtime < time.time() - self._lifetime:
                path.unlink(missing_ok=True)
                path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
                removed += 1
        return removed


def _reference(org_key: bytes, name: str) -> bytes:
    return hmac.digest(
        derive_key(org_key, "reference"), name.encode("utf-8", "surrogatepass"), "sha256"
    )[:16]


def _expire(kept: OrderedDict[bytes, tuple[float, _Kept]], oldest: float) -> None:
    while kept and (len(kept) > _MOST_CONVERSATIONS or next(iter(kept.values()))[0] < oldest):
        kept.popitem(last=False)
