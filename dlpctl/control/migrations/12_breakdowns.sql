-- Sums by policy, destination and type, so that an overview reads no check. Those of earlier days
-- are not broken down: their policy and destination are empty.
CREATE TABLE daily_sums (
    org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE,
    day TEXT NOT NULL,
    policy_id TEXT NOT NULL,
    destination TEXT NOT NULL,
    allowed INTEGER NOT NULL,
    masked INTEGER NOT NULL,
    blocked INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    bytes_protected INTEGER NOT NULL,
    exposures INTEGER NOT NULL,
    PRIMARY KEY (org_id, day, policy_id, destination)
) STRICT, WITHOUT ROWID;
INSERT INTO daily_sums
SELECT org_id, day, '', '', allowed, masked, blocked, bytes, bytes_protected, exposures FROM daily;
DROP TABLE daily;
ALTER TABLE daily_sums RENAME TO daily;

CREATE TABLE daily_found (
    org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE,
    day TEXT NOT NULL,
    type TEXT NOT NULL,
    destination TEXT NOT NULL,
    found INTEGER NOT NULL,
    PRIMARY KEY (org_id, day, type, destination)
) STRICT, WITHOUT ROWID;
INSERT INTO daily_found SELECT org_id, day, type, '', found FROM daily_types;
DROP TABLE daily_types;
ALTER TABLE daily_found RENAME TO daily_types;
