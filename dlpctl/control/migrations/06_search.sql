CREATE VIRTUAL TABLE phrases_search USING fts5(
    summary, policy_name, org_name, org_id, destination, decision,
    content='phrases', content_rowid='phrase_id', prefix='2 3'
);

CREATE TRIGGER phrases_added AFTER INSERT ON phrases BEGIN
    INSERT INTO phrases_search (rowid, summary, policy_name, org_name, org_id, destination, decision)
    VALUES (
        new.phrase_id, new.summary, new.policy_name, new.org_name, new.org_id, new.destination, new.decision
    );
END;

CREATE TRIGGER phrases_removed AFTER DELETE ON phrases BEGIN
    INSERT INTO phrases_search (
        phrases_search, rowid, summary, policy_name, org_name, org_id, destination, decision
    ) VALUES (
        'delete', old.phrase_id, old.summary, old.policy_name, old.org_name, old.org_id, old.destination,
        old.decision
    );
END;
INSERT INTO phrases_search (phrases_search) VALUES ('rebuild');
