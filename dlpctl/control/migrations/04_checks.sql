-- Most checks repeat what others have: the texts that are searched and shown are once in `phrases`,
-- with the number of checks that have them. No foreign key refers to organizations and policies: an
-- audit log outlives them.
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
) STRICT;

-- Apart from the texts, since every check changes a count, and since a search sums up many of them.
CREATE TABLE phrase_counts (
    phrase_id INTEGER PRIMARY KEY REFERENCES phrases ON DELETE CASCADE,
    org_id TEXT NOT NULL,
    checks INTEGER NOT NULL,
    last_seq INTEGER NOT NULL
) STRICT;
CREATE INDEX "idx_phrase_counts_org_id"
ON "phrase_counts" ("org_id");

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
) STRICT;
CREATE INDEX "idx_checks_phrase_id_seq"
ON "checks" ("phrase_id", "seq");

-- The start of the chain of links and its end, sealed: what was cut off there is missed.
CREATE TABLE chain (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    first_seq INTEGER NOT NULL,
    first_link BLOB NOT NULL,
    last_seq INTEGER NOT NULL,
    last_link BLOB NOT NULL,
    seal BLOB NOT NULL
) STRICT;
