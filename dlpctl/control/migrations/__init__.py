"""The tables, step by step. A step that was released never changes; what must change comes as a
further one.

`PRAGMA user_version` says how many steps a database has taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database


def _organizations(db: Database) -> None:
    db.table("organizations").create(
        {
            "org_id": str,
            "name": str,
            "slug": str,
            "settings": str,
            "created_at": str,
            "updated_at": str,
        },
        pk="org_id",
        not_null={"name", "slug", "settings", "created_at", "updated_at"},
        strict=True,
    ).create_index(["slug"], unique=True)
    db.execute("""
        CREATE TABLE policies (
            policy_id TEXT PRIMARY KEY,
            org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE,
            body TEXT NOT NULL,
            is_active INTEGER NOT NULL CHECK (is_active IN (0, 1)),
            key_lookup BLOB NOT NULL UNIQUE,
            key_sealed BLOB NOT NULL,
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL
        ) STRICT""")
    db.table("policies").create_index(["org_id"])
    db.execute("""
        CREATE TABLE policy_versions (
            policy_id TEXT NOT NULL REFERENCES policies ON DELETE CASCADE,
            version TEXT NOT NULL,
            body TEXT NOT NULL,
            created_at TEXT NOT NULL,
            PRIMARY KEY (policy_id, version)
        ) STRICT""")
    db.execute("""
        CREATE TABLE policy_groups (
            group_id TEXT PRIMARY KEY,
            org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE,
            name TEXT NOT NULL,
            description TEXT NOT NULL,
            is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            UNIQUE (org_id, name)
        ) STRICT""")
    db.execute("""
        CREATE TABLE group_policies (
            group_id TEXT NOT NULL REFERENCES policy_groups ON DELETE CASCADE,
            policy_id TEXT NOT NULL REFERENCES policies ON DELETE CASCADE,
            PRIMARY KEY (group_id, policy_id)
        ) STRICT, WITHOUT ROWID""")
    db.table("group_policies").create_index(["policy_id"])
    db.execute(
        "CREATE TABLE state (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID"
    )
    db.execute("INSERT INTO state VALUES ('generation', randomblob(8))")


def _licenses(db: Database) -> None:
    db.execute("""
        CREATE TABLE licenses (
            license_id TEXT PRIMARY KEY,
            org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE,
            license_type TEXT NOT NULL,
            key_lookup BLOB NOT NULL UNIQUE,
            key_sealed BLOB NOT NULL,
            expires_at TEXT NOT NULL,
            revoked_at TEXT,
            max_checks_per_month INTEGER NOT NULL CHECK (max_checks_per_month >= 0),
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL
        ) STRICT""")
    db.table("licenses").create_index(["org_id"])
    db.execute("""
        CREATE TABLE license_groups (
            license_id TEXT NOT NULL REFERENCES licenses ON DELETE CASCADE,
            group_id TEXT NOT NULL REFERENCES policy_groups ON DELETE CASCADE,
            is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
            PRIMARY KEY (license_id, group_id)
        ) STRICT, WITHOUT ROWID""")
    db.table("license_groups").create_index(["group_id"])
    db.execute("""
        CREATE TABLE usage (
            license_id TEXT NOT NULL REFERENCES licenses ON DELETE CASCADE,
            month TEXT NOT NULL,
            checks INTEGER NOT NULL CHECK (checks >= 0),
            PRIMARY KEY (license_id, month)
        ) STRICT, WITHOUT ROWID""")
    db.execute("""
        CREATE TABLE signing_keys (
            key_id TEXT PRIMARY KEY,
            public_key TEXT NOT NULL,
            private_sealed BLOB NOT NULL,
            created_at TEXT NOT NULL
        ) STRICT""")


def _tokens(db: Database) -> None:
    db.execute("""
        CREATE TABLE tokens (
            token_id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            role TEXT NOT NULL,
            org_id TEXT REFERENCES organizations ON DELETE CASCADE,
            lookup BLOB NOT NULL UNIQUE,
            created_at TEXT NOT NULL,
            expires_at TEXT
        ) STRICT""")


def _checks(db: Database) -> None:
    # Most checks say what others said before: what is searched and shown stands once in `phrases`,
    # with the number of checks that say it. No foreign key points from here to organizations and
    # policies: an audit log outlives them.
    db.execute("""
        CREATE TABLE phrases (
            phrase_id INTEGER PRIMARY KEY,
            digest BLOB NOT NULL UNIQUE,
            org_id TEXT NOT NULL,
            org_name TEXT NOT NULL,
            policy_id TEXT NOT NULL,
            policy_name TEXT NOT NULL,
            policy_version TEXT NOT NULL,
            destination TEXT NOT NULL,
            decision TEXT NOT NULL,
            summary TEXT NOT NULL
        ) STRICT""")
    # Apart from the texts, since every check changes a count, and since a search sums up many of
    # them.
    db.execute("""
        CREATE TABLE phrase_counts (
            phrase_id INTEGER PRIMARY KEY REFERENCES phrases ON DELETE CASCADE,
            org_id TEXT NOT NULL,
            checks INTEGER NOT NULL,
            last_seq INTEGER NOT NULL
        ) STRICT""")
    db.table("phrase_counts").create_index(["org_id"])
    db.execute("""
        CREATE TABLE checks (
            seq INTEGER PRIMARY KEY,
            preflight_id TEXT NOT NULL UNIQUE,
            phrase_id INTEGER NOT NULL REFERENCES phrases,
            license_id TEXT NOT NULL,
            created_at TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            is_file INTEGER NOT NULL CHECK (is_file IN (0, 1)),
            detected TEXT NOT NULL,
            link BLOB NOT NULL
        ) STRICT""")
    db.table("checks").create_index(["phrase_id", "seq"])
    # Where the chain of links begins, and its end, sealed: what was cut off there is missed.
    db.execute("""
        CREATE TABLE chain (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            first_seq INTEGER NOT NULL,
            first_link BLOB NOT NULL,
            last_seq INTEGER NOT NULL,
            last_link BLOB NOT NULL,
            seal BLOB NOT NULL
        ) STRICT""")


def _analytics(db: Database) -> None:
    db.execute("""
        CREATE TABLE daily (
            org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE,
            day TEXT NOT NULL,
            allowed INTEGER NOT NULL,
            masked INTEGER NOT NULL,
            blocked INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            bytes_protected INTEGER NOT NULL,
            exposures INTEGER NOT NULL,
            PRIMARY KEY (org_id, day)
        ) STRICT, WITHOUT ROWID""")
    db.execute("""
        CREATE TABLE daily_types (
            org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE,
            day TEXT NOT NULL,
            type TEXT NOT NULL,
            found INTEGER NOT NULL,
            PRIMARY KEY (org_id, day, type)
        ) STRICT, WITHOUT ROWID""")


def _search(db: Database) -> None:
    db.execute("""
        CREATE VIRTUAL TABLE phrases_search USING fts5(
            summary, policy_name, org_name, org_id, destination, decision,
            content='phrases', content_rowid='phrase_id', prefix='2 3'
        )""")
    db.execute("""
        CREATE TRIGGER phrases_added AFTER INSERT ON phrases BEGIN
            INSERT INTO phrases_search (rowid, summary, policy_name, org_name, org_id, destination, decision)
            VALUES (
                new.phrase_id, new.summary, new.policy_name, new.org_name, new.org_id, new.destination, new.decision
            );
        END""")
    db.execute("""
        CREATE TRIGGER phrases_removed AFTER DELETE ON phrases BEGIN
            INSERT INTO phrases_search (
                phrases_search, rowid, summary, policy_name, org_name, org_id, destination, decision
            ) VALUES (
                'delete', old.phrase_id, old.summary, old.policy_name, old.org_name, old.org_id, old.destination,
                old.decision
            );
        END""")
    db.execute("INSERT INTO phrases_search (phrases_search) VALUES ('rebuild')")


def _files(db: Database) -> None:
    db.execute("""
        CREATE TABLE masked_files (
            preflight_id TEXT PRIMARY KEY,
            expires_at TEXT NOT NULL
        ) STRICT, WITHOUT ROWID""")
    db.table("masked_files").create_index(["expires_at"])


def _bounded_sums(db: Database) -> None:
    # Sums that were reported up to the limit of 64 bits would make every further check of their day
    # fail.
    bound = (2**53 - 1,)
    db.execute(
        "UPDATE daily SET bytes = min(bytes, ?1), bytes_protected = min(bytes_protected, ?1),"
        " exposures = min(exposures, ?1)",
        bound,
    )
    db.execute("UPDATE daily_types SET found = min(found, ?1)", bound)


def _policy_owners(db: Database) -> None:
    # Which organization a policy belongs to, or belonged to: clients report checks by policies that
    # were deleted since.
    db.execute("""
        CREATE TABLE policy_owners (
            policy_id TEXT PRIMARY KEY,
            org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID""")
    db.table("policy_owners").create_index(["org_id"])
    db.execute("""
        CREATE TRIGGER policies_owned AFTER INSERT ON policies BEGIN
            INSERT OR IGNORE INTO policy_owners VALUES (new.policy_id, new.org_id);
        END""")
    db.execute("INSERT INTO policy_owners SELECT policy_id, org_id FROM policies")
    db.execute("""
        INSERT OR IGNORE INTO policy_owners
        SELECT policy_id, org_id FROM phrases JOIN organizations USING (org_id)
        WHERE policy_name <> '(deleted)'""")


def _substrings(db: Database) -> None:
    # Words are found wherever they are within others; an organization also by its slug.
    db.execute("DROP TRIGGER phrases_added")
    db.execute("DROP TRIGGER phrases_removed")
    db.execute("DROP TABLE phrases_search")
    db.execute("ALTER TABLE phrases ADD COLUMN org_slug TEXT NOT NULL DEFAULT ''")
    db.execute("""
        UPDATE phrases SET org_slug = organizations.slug FROM organizations
        WHERE organizations.org_id = phrases.org_id""")
    db.execute("""
        CREATE VIRTUAL TABLE phrases_search USING fts5(
            summary, policy_name, org_name, org_slug, org_id, destination, decision,
            content='phrases', content_rowid='phrase_id', tokenize='trigram'
        )""")
    db.execute("""
        CREATE TRIGGER phrases_added AFTER INSERT ON phrases BEGIN
            INSERT INTO phrases_search (
                rowid, summary, policy_name, org_name, org_slug, org_id, destination, decision
            ) VALUES (
                new.phrase_id, new.summary, new.policy_name, new.org_name, new.org_slug, new.org_id,
                new.destination, new.decision
            );
        END""")
    db.execute("""
        CREATE TRIGGER phrases_removed AFTER DELETE ON phrases BEGIN
            INSERT INTO phrases_search (
                phrases_search, rowid, summary, policy_name, org_name, org_slug, org_id, destination, decision
            ) VALUES (
                'delete', old.phrase_id, old.summary, old.policy_name, old.org_name, old.org_slug, old.org_id,
                old.destination, old.decision
            );
        END""")
    db.execute("INSERT INTO phrases_search (phrases_search) VALUES ('rebuild')")


def _evidence(db: Database) -> None:
    # A seal is a keyed hash over the row of another table. The rows that are there are sealed when
    # the key is at hand.
    db.execute("""
        CREATE TABLE seals (
            tbl TEXT NOT NULL,
            key TEXT NOT NULL,
            mac BLOB NOT NULL,
            PRIMARY KEY (tbl, key)
        ) STRICT, WITHOUT ROWID""")
    # Events are links of the same chain as checks; `after_seq` is the check that an event comes
    # after.
    db.execute("""
        CREATE TABLE events (
            number INTEGER PRIMARY KEY,
            after_seq INTEGER NOT NULL,
            created_at TEXT NOT NULL,
            actor TEXT NOT NULL,
            action TEXT NOT NULL,
            org_id TEXT NOT NULL,
            subject TEXT NOT NULL,
            details TEXT NOT NULL,
            sealed TEXT NOT NULL,
            link BLOB NOT NULL
        ) STRICT""")
    db.table("events").create_index(["org_id"])
    db.execute("CREATE INDEX key_uses ON events (subject, created_at) WHERE action = 'key.used'")
    db.execute("""
        CREATE TABLE retired_keys (
            key_id TEXT PRIMARY KEY,
            sealed BLOB NOT NULL,
            last_seq INTEGER NOT NULL,
            last_event INTEGER NOT NULL,
            retired_at TEXT NOT NULL
        ) STRICT""")
    db.execute("ALTER TABLE chain ADD COLUMN first_event INTEGER NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE chain ADD COLUMN last_event INTEGER NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE chain ADD COLUMN root BLOB NOT NULL DEFAULT x''")
    db.execute("ALTER TABLE chain ADD COLUMN clock TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE usage ADD COLUMN mac BLOB NOT NULL DEFAULT x''")
    db.execute("ALTER TABLE signing_keys ADD COLUMN retired_at TEXT")
    # The policy whose key asked for a check by another policy; none where it was its own.
    db.execute("ALTER TABLE checks ADD COLUMN asked_by TEXT")
    db.execute("INSERT INTO seals VALUES ('unsealed', '', x'')")


STEPS: tuple[Callable[[Database], None], ...] = (
    _organizations,
    _licenses,
    _tokens,
    _checks,
    _analytics,
    _search,
    _files,
    _bounded_sums,
    _policy_owners,
    _substrings,
    _evidence,
)
