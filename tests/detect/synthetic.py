"""Patterns that strain the engine, rather than find anything useful."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

from dlpctl.detect.patterns.library import parse_file
from dlpctl.detect.patterns.model import Pattern

_TABLES: dict[str, dict[str, Any]] = {
    # Without a bound of their own, narrow enough that texts of a test exceed it.
    "unbounded": {"regex": "<[a-z0-9 ]+>", "width": 24},
    "unbounded-either": {"regex": "q[^;]*;|r[^.]*[.]", "width": 12},
    "unbounded-lazy": {"regex": r"\bbegin\b.{5,}?\bend\b", "width": 30},
    "unbounded-value": {"regex": r"key\s*=\s*(?P<value>\S+)", "width": 20},
    "unbounded-run": {"regex": "[0-9]{3,}", "width": 8},
    "narrower-than-it-matches": {"regex": "w[a-z]{2,30}", "width": 6},
    # Delimiters that two neighbours share, at both ends of the text as well.
    "shared-delimiter": {"regex": "(?:^|[^0-9])(?P<value>[0-9]{4})(?:$|[^0-9])"},
    "shared-comma": {"regex": "(?:^|,)(?P<value>[a-z]{1,3})(?:,|$)"},
    "shared-twice": {"regex": "[,;](?P<value>[a-z]+[0-9]?)[,;]{1,2}", "width": 40},
    # A value that need not take part, and one that is empty.
    "optional-value": {"regex": "id:(?P<value>[0-9]+)?;"},
    "empty-value": {"regex": "x(?P<value>y*)z", "width": 16},
    "repeated-value": {"regex": "(?:(?P<value>[ab]{2})-){1,3}"},
    # Anchors and boundaries.
    "at-start": {"regex": "^[a-z]{2,5}"},
    "at-end": {"regex": "[a-z0-9]{2,5}$"},
    "line-start": {"regex": "(?m)^(?P<value>[a-z0-9]{1,4})"},
    "line-end": {"regex": "(?m)(?P<value>[a-z0-9]{1,4})$"},
    "boundary": {"regex": r"\b[a-z]{3}\b"},
    "no-boundary": {"regex": r"\B[a-z]{2}\B"},
    # Cases and characters.
    "any-case": {"regex": "(?i)kiss[a-z]?"},
    "any-case-class": {"regex": r"(?i)\w{4}s\b"},
    "any-case-posix": {"regex": "(?i)#[[:alpha:]]{2}"},
    "accents": {"regex": "[\u00e0-\u00ff]{2,}", "width": 9},
    "far-plane": {"regex": r"[\x{1F600}-\x{1F64F}]+.", "width": 16},
    "no-ascii": {"regex": r"[^\x00-\x7f]{3}"},
    "letters": {"regex": r"\b\p{Greek}{2}|\p{Hebrew}{3}"},
    "not-space": {"regex": r"@\S{3}"},
    "not-space-class": {"regex": r"%[^\s%]{2}[\S]"},
    "space": {"regex": r"[a-z]\s[a-z]"},
    "any": {"regex": "(?s)&.{3}"},
    # All ways to overlap, with scores and proofs of all kinds.
    "proven": {"regex": "[0-9]{6,8}", "validators": ["luhn"], "score": 0.6},
    "long-and-unsure": {"regex": "[a-z0-9]{8,16}", "score": 0.5},
    "long-and-certain": {"regex": "[0-9][a-z0-9]{5,12}", "score": 0.8},
    "twin": {"regex": "[a-z]{3}", "score": 0.7},
    "twin-later": {"regex": "[a-z]{3}[0-9]?", "score": 0.7},
    "chain": {"regex": "[a-z][0-9][a-z]", "score": 0.65},
    "chain-on": {"regex": "[0-9][a-z][0-9]", "score": 0.66},
    "too-weak": {"regex": "[a-z0-9]{4}", "score": 0.3},
    # A first pass that ends before the match does.
    "triggered": {"regex": "[a-z]{1,4}=[0-9]{2,4}", "trigger": "="},
    "triggered-late": {
        "regex": "[0-9]{1,3};[a-z]{2,}",
        "trigger": "[0-9];",
        "width": 9,
        "score": 0.75,
    },
    "triggered-before": {
        "regex": "q[rq]{0,3};(?P<value>r[r0-9.]{0,180})",
        "trigger": "q[rq]{0,3};",
    },
    "triggered-either": {"regex": "qr(?P<value>[.r]{1,170})|[;.]{1,4}qr[;.]", "trigger": "qr"},
    # Context.
    "near": {
        "regex": "[0-9]{3}",
        "score": 0.4,
        "context": {
            "words": ["key", "ki ss"],
            "score": 0.9,
            "against": ["begin", "key end"],
            "before": 9,
            "after": 5,
        },
    },
    "near-wide": {
        "regex": "[a-z]{2}[0-9]",
        "score": 0.6,
        "context": {
            "words": ["\u00e9t\u00e9"],
            "score": 0.95,
            "against": ["id"],
            "against_score": 0.55,
        },
    },
    "not-after": {
        "regex": "[0-9]{2}",
        "score": 0.6,
        "context": {"not_after": ["q+;", "id[a-z]?"], "against_score": 0.2, "before": 6},
    },
    "not-in": {
        "regex": "[0-9]{2}[a-z]?",
        "score": 0.6,
        "context": {"not_in": ["k[ =]{1,2}[0-5]+", "x.*z"], "against_score": 0.2, "before": 6},
    },
    "subject": {
        "regex": "[0-9]{3}",
        "score": 0.4,
        "context": {
            "around": ["id", "\u00e9t\u00e9|*s", "kis"],
            "not_around": ["key", "*x|q"],
            "score": 0.7,
        },
    },
    "with-keyword": {"regex": "[0-9]{2}[a-z]", "keywords": ["kis", "\u00e9t\u00e9"], "score": 0.7},
    "with-both": {
        "regex": "[a-z]{4}",
        "keywords": ["="],
        "score": 0.3,
        "context": {"words": ["id"], "score": 0.8, "before": 12, "after": 0},
    },
}


ALPHABET = "abcdkiswxyzqr012345679<>=;:,.-#%@&+ \n\t\v\r\f\0KS\u017f\u212a\u00e9\u00e8\u0301\u03b1\u03b2\ufffd\U0001f600\U0001f601\u05d0\u2028"
WORDS = [
    "key",
    "key end",
    "kiss",
    "KI_SS",
    "id:",
    "id",
    "begin",
    "end",
    "\u00e9t\u00e9",
    "key = ",
    "12344",
    "4111111",
    "1a2b3c4d",
]


def custom(identifier: str, regex: str, **keys: object) -> Pattern:
    """One pattern, with what else its table says."""
    table = {
        "id": identifier,
        "type": identifier.replace("-", "_").upper(),
        "category": "CUSTOM",
        "label": identifier,
    }
    return parse_file(
        {"pattern": [table | {"regex": regex, "score": 0.7} | keys]}, "synthetic.toml"
    )[0]


def synthetic() -> list[Pattern]:
    return [custom(name, **keys) for name, keys in _TABLES.items()]


def matching(pattern: Pattern) -> st.SearchStrategy[str]:
    """Texts with a match, or something near one: Python reads most of these regexes as the engine
    does.
    """
    if any(only_ours in pattern.regex for only_ours in ("[[:", r"\p", r"\x{")):
        return st.text(alphabet=ALPHABET, max_size=9)
    return st.from_regex(re.compile(pattern.regex), fullmatch=True).map(lambda text: text[:40])
