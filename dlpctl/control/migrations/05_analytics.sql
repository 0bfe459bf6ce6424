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
) STRICT, WITHOUT ROWID;

CREATE TABLE daily_types (
    org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE,
    day TEXT NOT NULL,
    type TEXT NOT NULL,
    found INTEGER NOT NULL,
    PRIMARY KEY (org_id, day, type)
) STRICT, WITHOUT ROWID;
