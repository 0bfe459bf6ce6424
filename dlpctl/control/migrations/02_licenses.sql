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
) STRICT;
CREATE INDEX "idx_licenses_org_id"
ON "licenses" ("org_id");

CREATE TABLE license_groups (
    license_id TEXT NOT NULL REFERENCES licenses ON DELETE CASCADE,
    group_id TEXT NOT NULL REFERENCES policy_groups ON DELETE CASCADE,
    is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
    PRIMARY KEY (license_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX "idx_license_groups_group_id"
ON "license_groups" ("group_id");

CREATE TABLE usage (
    license_id TEXT NOT NULL REFERENCES licenses ON DELETE CASCADE,
    month TEXT NOT NULL,
    checks INTEGER NOT NULL CHECK (checks >= 0),
    PRIMARY KEY (license_id, month)
) STRICT, WITHOUT ROWID;

CREATE TABLE signing_keys (
    key_id TEXT PRIMARY KEY,
    public_key TEXT NOT NULL,
    private_sealed BLOB NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
