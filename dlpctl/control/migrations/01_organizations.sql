CREATE TABLE "organizations" (
   "org_id" TEXT PRIMARY KEY,
   "name" TEXT NOT NULL,
   "slug" TEXT NOT NULL,
   "settings" TEXT NOT NULL,
   "created_at" TEXT NOT NULL,
   "updated_at" TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX "idx_organizations_slug"
ON "organizations" ("slug");

CREATE TABLE policies (
    policy_id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE,
    body TEXT NOT NULL,
    is_active INTEGER NOT NULL CHECK (is_active IN (0, 1)),
    key_lookup BLOB NOT NULL UNIQUE,
    key_sealed BLOB NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX "idx_policies_org_id"
ON "policies" ("org_id");

CREATE TABLE policy_versions (
    policy_id TEXT NOT NULL REFERENCES policies ON DELETE CASCADE,
    version TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (policy_id, version)
) STRICT;

CREATE TABLE policy_groups (
    group_id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (org_id, name)
) STRICT;

CREATE TABLE group_policies (
    group_id TEXT NOT NULL REFERENCES policy_groups ON DELETE CASCADE,
    policy_id TEXT NOT NULL REFERENCES policies ON DELETE CASCADE,
    PRIMARY KEY (group_id, policy_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX "idx_group_policies_policy_id"
ON "group_policies" ("policy_id");

CREATE TABLE state (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO state VALUES ('generation', randomblob(8));
