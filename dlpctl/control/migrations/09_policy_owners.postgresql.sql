CREATE TABLE policy_owners (
    policy_id TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations ON DELETE CASCADE
);
CREATE INDEX "idx_policy_owners_org_id" ON "policy_owners" ("org_id");

CREATE FUNCTION own_policy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO policy_owners VALUES (new.policy_id, new.org_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER policies_owned AFTER INSERT ON policies
FOR EACH ROW EXECUTE FUNCTION own_policy();
