-- The last checks of a policy are found by its phrases.
CREATE INDEX "idx_phrases_policy_id"
ON "phrases" ("policy_id");
