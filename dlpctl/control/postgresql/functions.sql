-- The tables that nodes share, beside those of the steps, and the functions of SQLite that statements
-- use.
CREATE TABLE steps (taken BIGINT NOT NULL);
INSERT INTO steps VALUES (0);

CREATE FUNCTION min(BIGINT, BIGINT) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT least($1, $2)';

CREATE FUNCTION randomblob(INTEGER) RETURNS BYTEA LANGUAGE sql VOLATILE
AS 'SELECT substring(uuid_send(gen_random_uuid()) FOR $1)';

-- Case is folded by the locale of the database, where the columns are compared by their bytes.
CREATE FUNCTION instr(TEXT, TEXT) RETURNS INTEGER LANGUAGE sql STABLE PARALLEL SAFE
AS 'SELECT strpos(lower($1 COLLATE "default"), $2 COLLATE "default")';

-- Of paths that name one member: '$.name' or '$[1]'.
CREATE FUNCTION json_extract(TEXT, TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT $1::json #>> ARRAY[btrim($2, '$.[]')] $$;

CREATE FUNCTION json_each(TEXT) RETURNS TABLE (value TEXT) LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE json_typeof(item) WHEN 'string' THEN item #>> '{}' ELSE item::text END
    FROM json_array_elements($1::json) AS item
$$;

CREATE FUNCTION hex(BYTEA) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT encode($1, 'hex') $$;

-- Masked copies of files, which any node may be asked for.
CREATE TABLE masked_contents (
    preflight_id TEXT COLLATE "C" PRIMARY KEY,
    kept_at TEXT COLLATE "C" NOT NULL,
    content BYTEA NOT NULL
);

-- Sessions of the console and links to it.
CREATE TABLE shared_items (
    digest BYTEA PRIMARY KEY,
    until TEXT COLLATE "C" NOT NULL,
    content BYTEA NOT NULL
);
