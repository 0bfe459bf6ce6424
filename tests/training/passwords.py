"""Trains the judge of words near labels of passwords, `words/password_lines.txt`.

python tests/training/passwords.py --clean /usr/lib/python3 --catalogs /usr/share/locale --words fr.txt --out FILE
"""

from __future__ import annotations

import argparse
import gettext
import gzip
import random
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dlpctl_patterns
from dlpctl.detect.confirm import judge
from dlpctl.detect.confirm.candidates import candidates, window_at
from dlpctl.detect.confirm.features import Candidate, decoded
from dlpctl.detect.linear import compile_regex, finders
from dlpctl.detect.patterns.library import load_patterns
from dlpctl.detect.validators.secrets_literals import describes
from dlpctl.detect.validators.wordlists import read_words

HERE = Path(__file__).parent
LIBRARY = Path(dlpctl_patterns.__path__[0])
_SLOT = re.compile(r"\[\[(?:N:)?(\w+?)_?(\d*)l?\]\]|\{((?:hex|HEX|dig|uuid|UUID|b62|b64|B36)\w*)\}")
_CHOICE = re.compile("⟨([^⟨⟩]*)⟩")
_FIELD = re.compile(r"\{(\w+)\}")
_PLAIN = re.compile(r"[\s'\"`$&:/\\;|<>()@%]")
_QUOTED = re.compile(r"[\s'\"`:/\\<>()]|[$%][A-Za-z{(]")
_QUOTES = "\"'`"
_LETTERS = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_LEET = str.maketrans("aeios", "4310$")
_OTHER_LANGUAGES, _ENGLISH = 0.35, 0.8
"""The share of words that are not English, and where that of names starts."""
_PASSWORDS = ("pw", "pin", "phrase", "word", "dots")
_LISTED, _IN_FILES, _BESIDE_FIELDS, _CHOSEN = 14, 6, 5, 112
"""The times that a line, a part of a file, and a line beside other fields are filled, and one of
which parts are chosen.
"""
_MADE, _OF_PROSE, _OF_FILES, _OF_CATALOGS = 7000, 120, 90_000, 9000
"""The number of clean lines made, that of fillings of each line of logs and prose without passwords,
and that of candidates taken from what people wrote.
"""
_LONGEST, _MOST_OF_ONE, _NATURAL = 400_000, 100, 9.0
"""The size of a file that is read, its candidates that are taken, and their weight."""
_FRAME, _MOST_OF_FRAME = 20, 6
"""The bytes before a candidate in a file, and how many candidates with the same ones are taken."""
_STEPS, _RATE, _DECAY = 160, 0.08, 2.0
"""The steps of the regression, their rate, and the decay of weights."""

Sample = tuple[bool, list[int], float]
"""True for a password, the features of a candidate, and its weight."""


class Values:
    """Makes what people choose as passwords, and what programs have in their places."""

    def __init__(self, source: random.Random, lists: list[Path]) -> None:
        self._source = source
        english = (LIBRARY / "financial" / "bip39_english.txt").read_text()
        nouns = (HERE / "nouns.txt").read_text(encoding="utf-8").split("\n\n")
        listed = [path.read_text(encoding="utf-8") for path in lists]
        self._words, self._others = english.split(), [_nouns(each) for each in nouns + listed]
        names = (HERE / "given_names.txt").read_text(encoding="utf-8").split()
        self._names = [name for name in names if name.isascii() and 3 < len(name) < 10]
        self._usual = sorted(word for word in read_words("common_passwords") if len(word) > 4)
        known = read_words("program") | read_words("password_labels")
        self.known = sorted(word for word in known if word.isascii() and 3 < len(word) < 12)

    def _draw(self, alphabet: str, size: int) -> str:
        return "".join(self._source.choice(alphabet) for _ in range(size))

    def _digits(self, most: int = 4) -> str:
        return self._draw(string.digits, self._source.randint(1, most))

    def word(self) -> str:
        share = self._source.random()
        if share < _OTHER_LANGUAGES:
            return self._source.choice(self._source.choice(self._others))
        return self._source.choice(self._names if share > _ENGLISH else self._words)

    def password(self, no_part: re.Pattern[str] = _PLAIN) -> str:
        """Return a value that a person or a generator chose, without what is no part of it."""
        source, word, other = self._source, self.word(), self.word()
        sign, joint = source.choice("!!!@#$._-*+%&?"), source.choice(["", "", "-", ".", "_", "-"])
        capital, digits = word.capitalize(), self._digits()
        weak = [
            word,
            word,
            word,
            capital,
            word + digits,
            word + digits,
            capital + digits,
            capital + str(source.randrange(1940, 2030)),
            word + str(source.randrange(1940, 2030)),
            capital + sign + digits,
            capital + digits + sign,
            word + sign,
            capital + sign,
            word + joint + other,
            word + joint + other,
            word + joint + other + self._digits(3),
            f"{word}{source.choice('__.-')}{source.randrange(10, 2030)}",
            f"{source.choice(self._usual)}{source.choice('__.@-')}{source.randrange(10, 2030)}",
            capital + joint + other.capitalize(),
            capital + other.capitalize() + digits,
            capital + other.capitalize() + digits + sign,
            f"{capital}-{other}-{self.word()}",
        ]
        known = self._of_known(source.choice(self.known), other)
        value = source.choice([*weak, *known, *self._stronger(word, other, digits, sign)])
        fits = 5 <= len(value) < 40 and not no_part.search(value)
        return value if fits else self.password(no_part)

    def _of_known(self, known: str, word: str) -> list[str]:
        """Return what people make of the name of a program, an account or a system."""
        digits, sign = str(self._source.randrange(10, 2030)), self._source.choice("!!@@#$%&*+")
        leet = known.translate(_LEET)
        return [
            f"{known}{sign}{digits}",
            f"{known.capitalize()}{sign}{digits}",
            f"{known}{digits}{sign}",
            f"{known.capitalize()}{digits}{sign}",
            f"{leet}{sign}{word}" if leet != known else f"{known}{sign}{word}",
            f"{known}{self._source.choice('_-.')}{word.translate(_LEET)}{digits[0]}",
        ]

    def _stronger(self, word: str, other: str, digits: str, sign: str) -> list[str]:
        source = self._source
        capital = word.capitalize()
        return [
            f"{word}-{other}-{self._digits(2)}",
            digits + word,
            f"{word}4{other}",
            f"{word}2go",
            word.translate(_LEET),
            capital + other.translate(_LEET),
            capital.translate(_LEET) + digits,
            (word + other).translate(_LEET) + digits[0],
            f"i{word}{other}",
            word + word,
            capital.translate(str.maketrans("aso", "@$0")) + digits,
            word.upper() + digits,
            source.choice(["qwerty", "asdf", "zxcvbn", "qaz", "1q2w"]) + digits,
            word + other + sign,
            word + sign + other,
            capital + sign + other,
            f"{word}.{other}{digits}",
            f"the{word}is{other}",
            word[:2] + source.choice("!@$&") + word[2:],
            capital[:1] + source.choice("!@$31") + capital[2:],
            capital[:1] + word[1:].translate(_LEET) + sign,
            word.translate(str.maketrans("asil", "@$!|")),
            word.translate(str.maketrans("aei", "@€!")),
            word[:-2] + source.choice("!@$3") + word[-2:],
            capital[:3] + source.choice("&=+") + word[3:] + sign + digits,
            f"{capital}{other.capitalize()}",
            word[:3] + digits + sign + other[:3].upper(),
            self._draw(string.digits, 6),
            self._draw(string.ascii_lowercase, source.randint(6, 10)),
            self._draw(_LETTERS, source.randint(8, 16)),
            self._draw(_LETTERS + "!#%*+-_.?@=", source.randint(8, 20)),
        ]

    def of_slot(self, name: str, size: str, is_quoted: bool = False) -> str:
        """Return the value of a slot: a password, a number, a phrase, or anything generated."""
        count = int(size or 24)
        if name == "pw":
            return self.password(_QUOTED if is_quoted else _PLAIN)
        if name == "word":
            word, mark = self.word(), self._source.choice("!!#$*")
            return self._source.choice([word, word, word, word.capitalize(), word + mark])
        if name == "dots":
            joint, other = self._source.choice("..._&"), self.word()
            return f"{self.word().capitalize()}{joint}{other.capitalize()}"
        if name == "user":
            return self._source.choice(self._names)
        if name == "pin":
            return self._draw(string.digits, self._source.choice([4, 4, 5, 6, 8]))
        if name == "phrase":
            joint, count = self._source.choice("  -"), self._source.choice([3, 4, 4, 5, 6, 12])
            english = [self._source.choice(self._words) for _ in range(count)]
            return joint.join(self._source.choice([english, [self.word() for _ in english]]))
        if name.lower() == "uuid":
            return "-".join(self._draw(_HEX, part) for part in (8, 4, 4, 4, 12))
        alphabet = {"hex": _HEX, "HEX": _HEX.upper(), "dig": string.digits}.get(name, _LETTERS)
        return self._draw(alphabet, min(count, 256 if name.lower() == "hex" else 64))

    def decoy(self) -> str:
        """Return what a field that is no password has as its value."""
        source, word, number = self._source, self.word(), str(self._source.randrange(1, 30))
        large = str(source.randrange(100, 99_999))
        return source.choice(
            [
                word,
                word + number,
                f"{word}{number}.acme.example",
                f"{word}_{source.choice(self.known)}",
                word[:2].upper() + large,
                f"{word.upper()}-{large}",
                f"{number}{word}",
                f"{word}@acme.example",
                f"{word}.{source.choice(['txt', 'yml', 'pw'])}",
                *[self.of_program() for _ in range(24)],
            ]
        )

    def of_program(self) -> str:
        """Return a name, a number or a standard, which nobody chooses as a password."""
        source, known, other = self._source, *self._source.sample(self.known, 2)
        number, large = str(source.randrange(1, 30)), str(source.randrange(100, 99_999))
        return source.choice(
            [
                known,
                known + number,
                f"{known}_{other}",
                known + other.capitalize(),
                f"{known}_v{number}",
                f"{known}{source.choice('_-')}{number[0]}",
                f"{known}-{other}-{number}",
                f"{known.upper()}_{other.upper()}",
                f"{large}ms",
                f"{known.upper()}_{other[:2].upper()}{number[0]}",
                f"{known.capitalize()}{number[0]}",
                f"#{large}",
                f"v{number}.{large[:1]}.3",
                f"2026-0{large[:1]}-1{large[-1]}",
                *source.sample(_STANDARDS, 4),
                self.of_slot("uuid", ""),
                self.of_slot("hex", source.choice(["7", "12", "32", "40"])),
                f"min{number}",
                f"{known}.{other}",
                f"get{known.capitalize()}{number}",
                f"admin{number}",
                f"step{number}",
            ]
        )


def _words(text: str) -> list[str]:
    return text.split()


def _nouns(text: str) -> list[str]:
    """Return the words of a list that do not say how a password is."""
    words = unicodedata.normalize("NFC", text).split()
    return [word for word in words if 3 < len(word) < 12 and not describes(word)]


_STANDARDS = _words(
    "utf8 bcrypt argon2id aes256 ssh2 oauth2 http2 base64 md5crypt scram-sha-256 pbkdf2 latin1 k8s "
    "rfc7613 rfc2898 hash-v2 auth-v3 PBKDF2+SHA256 HMAC-SHA256 ISO27001 fips140 dialog2 cn01234 win2019 "
    "ipv4 x509 tls13 ed25519 rsa2048 sha1 sha256 sha512"
)
_KEYS = _words(
    "host server port user username database db name email region mode type method model file path "
    "url format version id request_id ticket order room table schema role group driver provider "
    "realm algorithm encoding policy level status stage environment department Server Benutzer "
    "Modell Raum utilisateur serveur usuario servidor utente gebruiker użytkownik"
)
_LABELS = _words(
    "password passwd pwd login credentials auth PIN wifi Passwort Kennwort contraseña senha "
    "wachtwoord hasło passphrase DB_PASS userPass"
)
_FIELDS = ["{}={}", "{}: {}", '"{}": "{}"', '{}="{}"', "{} {}", "{}='{}'", "'{}' => '{}'"]
_TEXTS = [
    *("Enter password", "Your password", "New password", "Invalid login", "At least 8 characters"),
    *("must be set", "is required", "not found", "Passwort ändern", "Mot de passe oublié"),
    *("wrong credentials", "string", "number", "[hidden]", "<hidden>", "(none)", "***", "${X}"),
    *("{{ pw }}", "$PASS", "%PASS%", "not set", "change in May", "shared with team", "use SSO"),
    *("same as above", "see vault", "ask admin", "stored in keychain", "unchanged"),
]
_CLEAN_LINES = [
    *("{l}_{x} = {d}", "{l}_{x}: {d}", '"{l}{x}": "{d}"', '{l}_{x} = "{d}"', "{x}.{l} = {x}.{k}"),
    *("{l} = {k}", "{l}: {k}", "{l}={k}", '{l}("{k}")', "set_{l}({k})", '{l}, {x}, "{d}"'),
    *("{l} {x} {d}", "the {l} {x} is {d}", "{x} {l} for {d}", "{d}: {l} {x}", "{f} {l}", "{l} {f}"),
    *("| {l} | {x} | {d} |", "{l}; {f}", "{l} failed, {f}", '{l}({k}, {x}, "{d}")', "{l} ({f})"),
    *("{l} must be {k}", "{f}, {l} = {k}", "{l} = {x}({k})", '{l} = {x}["{k}"]', '{l}="{x}" {f}'),
    *('{x}({l}, "{d}")', 'connect(${x}, ${k}, ${l}, "{d}")', "{l} read from {d}", "{l}: see {d}"),
    *('if {l} == "{d}":', "{l} reset {f}", '"{l}.{x}": "{t}"', "{l}: {t}", '{l} = "{t}"'),
]


class Sampler:
    """Makes samples of texts with the candidates that the judge would see."""

    def __init__(self, seed: int, lists: list[Path]) -> None:
        self._source = random.Random(seed)
        self._values = Values(self._source, lists)
        file = LIBRARY / "secrets" / "generic.toml"
        pattern = next(each for each in load_patterns([file]) if each.judged)
        self._search, _ = finders(compile_regex(pattern.regex, pattern.id))
        self._seen: set[tuple[int, ...]] = set()
        self._frames: Counter[bytes] = Counter()

    def _next_label(self, data: bytes, first: int, last: int) -> int:
        return self._search(data, first, last)[0][0]

    def _candidates(self, data: bytes) -> Iterator[tuple[int, int, Candidate]]:
        start, end = self._search(data, 0, len(data))[0]
        while start >= 0:
            first, window = window_at(data, start, end, self._next_label)
            for candidate in candidates(window):
                value, stop = candidate.value
                yield first + value, first + stop, candidate
            start, end = self._search(data, max(end, start + 1), len(data))[0]

    def filled(self, template: str, weight: float) -> Iterator[Sample]:
        """Yield the candidates of a template; those that are parts of a value are left out."""
        text, passwords, others, at = "", [], [], 0
        template = _CHOICE.sub(lambda found: self._source.choice(found[1].split("|")), template)
        for slot in _SLOT.finditer(template):
            text += template[at : slot.start()]
            name = slot[1] or slot[3].rstrip("_" + string.digits)
            ends = template[slot.start() - 1 : slot.start()], template[slot.end() : slot.end() + 1]
            value = self._values.of_slot(
                name,
                slot[2] if slot[1] else slot[3][len(name) :].strip("_"),
                is_quoted=ends[0] != "" and ends[0] in _QUOTES and ends[0] == ends[1],
            )
            start = len(text.encode())
            span = (start, start + len(value.encode()))
            if slot[1]:
                (passwords if name in _PASSWORDS else others).append(span)
            text, at = text + value, slot.end()
        data = (text + template[at:]).encode()
        for start, end, candidate in self._candidates(data):
            if any(first < end and start < last for first, last in others):
                continue
            covered = [(first, last) for first, last in passwords if first < end and start < last]
            if not covered or (start, end) in covered:
                features = set(judge.features(candidate))
                yield bool(covered), [*features - _of_words(candidate, covered)], weight

    def clean(self, data: bytes, weight: float = 1.0) -> Iterator[Sample]:
        """Yield the candidates of a text without passwords, each only once."""
        for _, _, candidate in self._candidates(data):
            yield from self._new(candidate, weight)

    def _new(self, candidate: Candidate, weight: float) -> Iterator[Sample]:
        features = judge.features(candidate)
        key = tuple(sorted(features))
        if key not in self._seen:
            self._seen.add(key)
            yield False, features, weight

    def _field(self) -> str:
        return self._source.choice(_FIELDS).format(self._source.choice(_KEYS), self._values.decoy())

    def _clean_line(self) -> str:
        source, values = self._source, self._values
        line = source.choice(_CLEAN_LINES).format(
            l=source.choice(_LABELS),
            x=source.choice(values.known),
            d=values.decoy(),
            k=values.of_program(),
            f=self._field(),
            t=source.choice(_TEXTS),
        )
        return line + source.choice(["", " ", ";", ","]) + self._field() + "\n"

    def _prose_line(self, template: str) -> str:
        source, values = self._source, self._values
        template = _CHOICE.sub(lambda found: source.choice(found[1].split("|")), template)
        makers = {
            "x": lambda: source.choice(values.known),
            "w": values.word,
            "c": lambda: values.word().capitalize(),
            "d": values.decoy,
            "n": lambda: str(source.randrange(1, 99)),
            "p": lambda: self._path(),
            "t": lambda: f"2026-0{source.randrange(1, 9)}-1{source.randrange(9)} 12:00:01",
            "hex8": lambda: values.of_slot("hex", "8"),
        }
        return _FIELD.sub(lambda found: makers[found[1]](), template) + "\n"

    def _path(self) -> str:
        source, known, word = self._source, self._values.known, self._values.word()
        ending = source.choice(["c", "h", "o", "1", "5", "8", "pl", "cc", "in", "so", "exp", "el"])
        return source.choice(["", "/usr/lib/", f"{source.choice(known)}/", f"{word}/"]) + (
            source.choice([word, source.choice(known), f"{word}-{source.choice(known)}"])
            + source.choice(["", f".{ending}", f".{ending}", str(source.randrange(9))])
        )

    def of_prose(self) -> Iterator[Sample]:
        """Yield the candidates of lines of logs, changelogs, manuals and talk."""
        file = HERE / "templates" / "password_prose.txt"
        for template in file.read_text(encoding="utf-8").splitlines():
            for _ in range(_OF_PROSE):
                yield from self.clean(self._prose_line(template).encode())

    def of_templates(self) -> Iterator[Sample]:
        """Yield the samples of the templates, with other fields beside them, and of clean lines."""
        file = HERE / "templates" / "password_lines.txt"
        lines, parts = file.read_text(encoding="utf-8").split("\n%%%\n")
        for template in lines.split("\n%%\n"):
            has_value, is_chosen = "[[" in template, "⟨" in template
            count, weight = (_LISTED, 1.0) if has_value else (1, 1.0 if is_chosen else 3.0)
            for _ in range(_CHOSEN << ("[[word]]" in template) if is_chosen else count):
                yield from self.filled(template + "\n", weight)
            for _ in range(_BESIDE_FIELDS if has_value and "\n" not in template else 0):
                joint = self._source.choice([", ", "; ", " ", " | ", "\n"])
                pair = [template, self._field()]
                self._source.shuffle(pair)
                yield from self.filled(joint.join(pair) + "\n", 1.0)
        for template in parts.split("\n%%\n"):
            has_value = "[[" in template
            for _ in range(_IN_FILES if has_value else 1):
                yield from self.filled(template + "\n", 1.0 if has_value else 3.0)
        for _ in range(_MADE):
            yield from self.clean(self._clean_line().encode(), 0.5)

    def of_files(self, folders: list[Path]) -> Iterator[Sample]:
        """Yield the candidates of files without passwords: no tests, which have some."""
        files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
        self._source.shuffle(files)
        for file in files:
            if "test" not in str(file):
                with (gzip.open if file.suffix == ".gz" else open)(file, "rb") as opened:
                    data = opened.read(_LONGEST)
                if b"\0" not in data and _is_text(data):
                    yield from list(self._natural(data))[:_MOST_OF_ONE]

    def _natural(self, data: bytes) -> Iterator[Sample]:
        """Yield the candidates of a file, few of those in the same frame."""
        for start, _, candidate in self._candidates(data):
            frame = data[max(0, start - _FRAME) : start]
            self._frames[frame] += 1
            if self._frames[frame] <= _MOST_OF_FRAME:
                yield from self._new(candidate, _NATURAL)

    def of_catalogs(self, folder: Path) -> Iterator[Sample]:
        """Yield the candidates of the messages of programs in all languages."""
        files = sorted(folder.rglob("LC_MESSAGES/*.mo"))
        self._source.shuffle(files)
        for file in files:
            try:
                with file.open("rb") as opened:
                    catalog: dict[object, str] = vars(gettext.GNUTranslations(opened))["_catalog"]
            except (UnicodeDecodeError, IndexError):
                continue  # an old charset, or no valid header
            messages = "\n\n".join(text[:_LONGEST] for text in catalog.values() if text)
            yield from list(self.clean(messages.encode("utf-8", "replace")))[:_MOST_OF_ONE]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except (UnicodeDecodeError, IndexError):
        return False
    return True


def _of_words(candidate: Candidate, covered: list[tuple[int, int]]) -> set[int]:
    """Return the features to leave out: passwords are no words that the judge should remember."""
    value = decoded(candidate.text[slice(*candidate.value)]).lower().rstrip("!?*")
    return {judge.number(f"value {value}")} if covered else set()


def taken(samples: Iterator[Sample], most: int) -> list[Sample]:
    return [sample for _, sample in zip(range(most), samples, strict=False)]


def fitted(samples: list[Sample]) -> Any:
    """Return the weights of a logistic regression, by Adam over all samples at once."""
    import numpy as np

    longest = max(len(features) for _, features, _ in samples)
    indices = np.full((len(samples), longest), judge.SIZE, dtype=np.int32)
    for row, (_, features, _) in enumerate(samples):
        indices[row, : len(features)] = features
    wanted = np.array([is_password for is_password, _, _ in samples], dtype=float)
    importance = np.array([weight for _, _, weight in samples])
    weights, mean, square = (np.zeros(judge.SIZE + 1) for _ in range(3))
    for step in range(1, _STEPS + 1):
        odds = weights[indices].sum(axis=1)
        error = (1 / (1 + np.exp(-odds)) - wanted) * importance
        slope = np.bincount(
            indices.ravel(), weights=np.repeat(error, longest), minlength=judge.SIZE + 1
        )
        slope += _DECAY * weights
        slope[judge.SIZE] = 0
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope * slope
        weights -= _RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    odds = weights[indices].sum(axis=1)
    found = odds > 0
    print(f"{len(samples)} samples, {int(wanted.sum())} passwords")
    print(f"recall {found[wanted > 0].mean():.3f}, false {int(found[wanted == 0].sum())}")
    return weights[: judge.SIZE]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clean", type=Path, action="append", default=[])
    parser.add_argument("--catalogs", type=Path)
    parser.add_argument("--words", type=Path, action="append", default=[])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    sampler = Sampler(arguments.seed, arguments.words)
    samples = [*sampler.of_templates(), *sampler.of_prose()]
    samples += taken(sampler.of_files(arguments.clean), _OF_FILES)
    if arguments.catalogs:
        samples += taken(sampler.of_catalogs(arguments.catalogs), _OF_CATALOGS)
    arguments.out.write_text(judge.written(fitted(samples)), encoding="ascii")


if __name__ == "__main__":
    main()
