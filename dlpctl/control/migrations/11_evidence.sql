-- A seal is a keyed hash over the row of another table. Rows are sealed when the key is at hand.
CREATE TABLE seals (
    tbl TEXT NOT NULL,
    key TEXT NOT NULL,
    mac BLOB NOT NULL,
    PRIMARY KEY (tbl, key)
) STRICT, WITHOUT ROWID;

-- Events are links of the same chain as checks; `after_seq` is the check that an event comes after.
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
) STRICT;
CREATE INDEX "idx_events_org_id"
ON "events" ("org_id");
CREATE INDEX key_uses ON events (subject, created_at) WHERE action = 'key.used';

CREATE TABLE retired_keys (
    key_id TEXT PRIMARY KEY,
    sealed BLOB NOT NULL,
    last_seq INTEGER NOT NULL,
    last_event INTEGER NOT NULL,
    retired_at TEXT NOT NULL
) STRICT;
ALTER TABLE chain ADD COLUMN first_event INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chain ADD COLUMN last_event INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chain ADD COLUMN root BLOB NOT NULL DEFAULT x'';
ALTER TABLE chain ADD COLUMN clock TEXT NOT NULL DEFAULT '';
ALTER TABLE usage ADD COLUMN mac BLOB NOT NULL DEFAULT x'';
ALTER TABLE signing_keys ADD COLUMN retired_at TEXT;
-- The policy whose key asked for a check by another policy.
ALTER TABLE checks ADD COLUMN asked_by TEXT;
INSERT INTO seals VALUES ('unsealed', '', x'');
