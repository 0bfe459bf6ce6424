CREATE TABLE tokens (
    token_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    org_id TEXT REFERENCES organizations ON DELETE CASCADE,
    lookup BLOB NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    expires_at TEXT
) STRICT;
