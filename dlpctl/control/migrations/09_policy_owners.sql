-- The organization that a policy belongs to, or belonged to: clients report checks by policies that
-- were deleted since.
CREATE TABLE policy_owners (
    policy_id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX "idx_policy_owners_org_id"
ON "policy_owners" ("org_id");

CREATE TRIGGER policies_owned AFTER INSERT ON policies BEGIN
    INSERT OR IGNORE INTO policy_owners VALUES (new.policy_id, new.org_id);
END;
INSERT INTO policy_owners SELECT policy_id, org_id FROM policies;
INSERT OR IGNORE INTO policy_owners
SELECT policy_id, org_id FROM phrases JOIN organizations USING (org_id)
WHERE policy_name <> '(deleted)';
