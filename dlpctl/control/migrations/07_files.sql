CREATE TABLE masked_files (
    preflight_id TEXT PRIMARY KEY,
    expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX "idx_masked_files_expires_at"
ON "masked_files" ("expires_at");
