-- References are 64-bit numbers that sort as their texts do. `seq` is the order of the first puts.
-- `edges` are such numbers, 8 bytes each; data is CBOR that a compression would not shrink much.
CREATE TABLE {schema}.node (
    ref bigint PRIMARY KEY,
    type bigint NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    created bigint NOT NULL,
    touched bigint NOT NULL,
    edges bytea NOT NULL,
    sha256 bytea NOT NULL,
    data bytea NOT NULL CHECK (octet_length(data) <= 67108864)
);
ALTER TABLE {schema}.node ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX node_of_type ON {schema}.node (type, seq);

-- `tags` is canonical JSON in UTF-8, since a text cannot hold U+0000; `status` repeats that tag for
-- its index, with U+0000 replaced. Half-empty pages let a head move without touching an index.
CREATE TABLE {schema}.variable (
    name text COLLATE "C" PRIMARY KEY,
    value text NOT NULL,
    status text COLLATE "C",
    tags bytea NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    checksum bytea NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX variable_of_status ON {schema}.variable (status, name) WHERE status IS NOT NULL;

-- The token of a lease is the fence: each holder has another one. pid, start, host and since are for
-- display; owner_… is the process that renews it.
CREATE TABLE {schema}.lease (
    name text COLLATE "C" PRIMARY KEY,
    token bigint NOT NULL,
    pid bigint NOT NULL,
    start text NOT NULL,
    host text NOT NULL,
    since bigint NOT NULL,
    owner_pid bigint NOT NULL,
    owner_start text NOT NULL,
    owner_host text NOT NULL,
    expires timestamptz NOT NULL
) WITH (fillfactor = 40);

-- Store a whole step: one statement, one round trip. Rows with a kind of conflict and no change, or
-- the records that existed before. Everything is locked in the order of names and references. An
-- assignment of an expression costs a tenth of a statement, so what needs no table is one. Planning
-- costs as much as executing: each statement is planned once in a session, to use the indexes even if
-- the tables were small then.
CREATE FUNCTION {schema}.commit_step(
    p_refs bigint[], p_types bigint[], p_created bigint[], p_touched bigint[], p_edges bytea[],
    p_sha256 bytea[], p_data bytea[],
    p_names text[], p_values text[], p_statuses text[], p_tags bytea[], p_since bigint[],
    p_updated bigint[], p_checksums bytea[], p_expected bytea[],
    p_leases text[], p_tokens bigint[], p_durable boolean, p_lag bigint,
    OUT kind text, OUT name text, OUT ref bigint, OUT created bigint
) RETURNS SETOF record LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $body$
#variable_conflict use_column
DECLARE
    v_created integer := cardinality(p_names) - cardinality(array_remove(p_expected, NULL));
    v_deleted integer := cardinality(p_names) - cardinality(array_remove(p_checksums, NULL));
    v_setting text := set_config('lock_timeout', '60s', true);
    v_done bigint;
    v_bad text;
    v_new bigint[];
    v_is_same boolean;
    v_is_late boolean;
    v_touches boolean := false;
BEGIN
    IF NOT p_durable THEN
        v_setting := set_config('synchronous_commit', 'off', true);
    END IF;
    -- Transactions that must be alone take this lock exclusively.
    v_setting := pg_advisory_xact_lock_shared({lock_class}, hashtext('{schema}'))::text;

    IF cardinality(p_leases) > 0 THEN
        SELECT count(*) INTO v_done FROM (
            SELECT FROM {schema}.lease l
            WHERE (l.name, l.token) IN (SELECT * FROM unnest(p_leases, p_tokens))
            ORDER BY l.name FOR SHARE) AS held;
        IF v_done < cardinality(p_leases) THEN
            RETURN QUERY
            SELECT 'lost', w.name, NULL::bigint, NULL::bigint
            FROM unnest(p_leases, p_tokens) AS w (name, token)
            WHERE NOT EXISTS (
                SELECT FROM {schema}.lease l WHERE l.name = w.name AND l.token = w.token);
            RETURN;
        END IF;
    END IF;

    IF cardinality(p_names) > 0 THEN
        IF v_created < cardinality(p_names) THEN
            RETURN QUERY
            SELECT 'moved', w.name, NULL::bigint, NULL::bigint
            FROM unnest(p_names, p_expected) AS w (name, expected)
            LEFT JOIN (
                SELECT v.name, v.checksum FROM {schema}.variable v WHERE v.name = ANY (p_names)
                ORDER BY v.name FOR UPDATE) AS v ON v.name = w.name
            WHERE v.checksum IS DISTINCT FROM w.expected;
            IF FOUND THEN
                RETURN;
            END IF;
        END IF;
        IF v_deleted > 0 THEN
            DELETE FROM {schema}.variable v USING unnest(p_names, p_checksums) AS w (name, checksum)
            WHERE v.name = w.name AND w.checksum IS NULL;
        END IF;
        IF v_created + v_deleted < cardinality(p_names) THEN
            UPDATE {schema}.variable v
            SET value = w.value, status = w.status, tags = w.tags, created = w.since,
                updated = w.updated, checksum = w.checksum
            FROM unnest(p_names, p_values, p_statuses, p_tags, p_since, p_updated, p_checksums,
                        p_expected)
                AS w (name, value, status, tags, since, updated, checksum, expected)
            WHERE v.name = w.name AND v.checksum = w.expected AND w.checksum IS NOT NULL;
        END IF;
        IF v_created > 0 THEN
            INSERT INTO {schema}.variable (name, value, status, tags, created, updated, checksum)
            SELECT w.name, w.value, w.status, w.tags, w.since, w.updated, w.checksum
            FROM unnest(p_names, p_values, p_statuses, p_tags, p_since, p_updated, p_checksums,
                        p_expected)
                AS w (name, value, status, tags, since, updated, checksum, expected)
            WHERE w.checksum IS NOT NULL AND w.expected IS NULL
            ORDER BY w.name COLLATE "C"
            ON CONFLICT (name) DO NOTHING;
            GET DIAGNOSTICS v_done = ROW_COUNT;
            IF v_done < v_created THEN  -- somebody else has created one
                SELECT w.name INTO v_bad
                FROM unnest(p_names, p_checksums, p_expected) AS w (name, checksum, expected)
                JOIN {schema}.variable v ON v.name = w.name
                WHERE w.expected IS NULL AND v.checksum IS DISTINCT FROM w.checksum LIMIT 1;
                RAISE EXCEPTION 'moved' USING ERRCODE = 'UW001', DETAIL = coalesce(v_bad, p_names[1]);
            END IF;
        END IF;
    END IF;

    IF cardinality(p_refs) > 0 THEN
        WITH added AS (
            INSERT INTO {schema}.node (ref, type, created, touched, edges, sha256, data)
            SELECT * FROM unnest(p_refs, p_types, p_created, p_touched, p_edges, p_sha256, p_data)
            ORDER BY 1
            ON CONFLICT (ref) DO NOTHING RETURNING node.ref)
        SELECT coalesce(array_agg(added.ref), '{}') INTO v_new FROM added;
        IF cardinality(v_new) < cardinality(p_refs) THEN
            kind := 'existing';
            FOR ref, created, v_is_same, v_is_late IN
                SELECT n.ref, n.created, (n.type, n.sha256, n.data) IS NOT DISTINCT FROM
                    (w.type, w.sha256, w.data), n.touched + p_lag < w.touched
                FROM unnest(p_refs, p_types, p_sha256, p_data, p_touched)
                    AS w (ref, type, sha256, data, touched)
                JOIN {schema}.node n ON n.ref = w.ref
                WHERE w.ref <> ALL (v_new)
            LOOP
                IF NOT v_is_same THEN
                    RAISE EXCEPTION 'differs' USING ERRCODE = 'UW002', DETAIL = ref::text;
                END IF;
                v_touches := v_touches OR v_is_late;
                RETURN NEXT;
            END LOOP;
        END IF;
        IF v_touches THEN
            UPDATE {schema}.node n SET touched = old.touched
            FROM (
                SELECT o.ref, w.touched FROM unnest(p_refs, p_touched) AS w (ref, touched)
                JOIN {schema}.node o ON o.ref = w.ref
                WHERE w.ref <> ALL (v_new) AND o.touched + p_lag < w.touched
                ORDER BY o.ref FOR UPDATE OF o) old
            WHERE n.ref = old.ref;
        END IF;
    END IF;
END
$body$;

-- Acquire a lease that is free, has expired, or whose holder is known to be dead (its token). The
-- row of the lease afterwards; the caller has it if the token is its own.
CREATE FUNCTION {schema}.take_lease(
    p_name text, p_token bigint, p_pid bigint, p_start text, p_host text, p_since bigint,
    p_owner_pid bigint, p_owner_start text, p_owner_host text, p_seconds float8, p_dead bigint
) RETURNS SETOF {schema}.lease LANGUAGE plpgsql AS $body$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO {schema}.lease AS l
    VALUES (p_name, p_token, p_pid, p_start, p_host, p_since, p_owner_pid, p_owner_start,
            p_owner_host, clock_timestamp() + make_interval(secs => p_seconds))
    ON CONFLICT (name) DO UPDATE
    SET token = excluded.token, pid = excluded.pid, start = excluded.start, host = excluded.host,
        since = excluded.since, owner_pid = excluded.owner_pid,
        owner_start = excluded.owner_start, owner_host = excluded.owner_host,
        expires = excluded.expires
    WHERE l.expires < clock_timestamp() OR l.token = p_dead;
    RETURN QUERY SELECT * FROM {schema}.lease l WHERE l.name = p_name;
END
$body$;

-- Renew leases; the names of those that the caller still has.
CREATE FUNCTION {schema}.renew_leases(p_names text[], p_tokens bigint[], p_seconds float8)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM FROM {schema}.lease l WHERE l.name = ANY (p_names) ORDER BY l.name FOR UPDATE;
    RETURN QUERY
    UPDATE {schema}.lease l SET expires = clock_timestamp() + make_interval(secs => p_seconds)
    FROM unnest(p_names, p_tokens) AS w (name, token)
    WHERE l.name = w.name AND l.token = w.token RETURNING l.name;
END
$body$;

CREATE FUNCTION {schema}.free_leases(p_names text[], p_tokens bigint[])
RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM FROM {schema}.lease l WHERE l.name = ANY (p_names) ORDER BY l.name FOR UPDATE;
    DELETE FROM {schema}.lease l USING unnest(p_names, p_tokens) AS w (name, token)
    WHERE l.name = w.name AND l.token = w.token;
END
$body$;
