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
-- the records that existed before. Everything is locked in the order of names and references, in
-- which the arrays are. Starting a statement costs more than what it does for the few rows of a step,
-- so each is as plain as can be: variables one by one, by their key. Planning costs as much again:
-- each statement is planned once in a session, to use the indexes even if the tables were small then.
CREATE FUNCTION {schema}.commit_step(
    p_refs bigint[], p_types bigint[], p_created bigint[], p_touched bigint[], p_edges bytea[],
    p_sha256 bytea[], p_data bytea[],
    p_names text[], p_values text[], p_statuses text[], p_tags bytea[], p_since bigint[],
    p_updated bigint[], p_checksums bytea[], p_expected bytea[],
    p_leases text[], p_tokens bigint[], p_durable boolean, p_lag bigint,
    p_threads text[] DEFAULT NULL, p_seqs bigint[] DEFAULT NULL, p_wanted boolean[] DEFAULT NULL,
    p_needs text[] DEFAULT NULL, p_uses text[] DEFAULT NULL, p_not_before bigint[] DEFAULT NULL,
    p_priorities integer[] DEFAULT NULL, p_trees text[] DEFAULT NULL, p_most integer[] DEFAULT NULL,
    p_ended boolean[] DEFAULT NULL, p_callers text[] DEFAULT NULL, p_moves_at bigint[] DEFAULT NULL,
    OUT kind text, OUT name text, OUT ref bigint, OUT created bigint
) RETURNS SETOF record LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $body$
#variable_conflict use_column
DECLARE
    v_setting text := set_config('lock_timeout', '60s', true);
    v_done bigint;
    v_is_same boolean;
    v_is_new boolean;
    v_is_late boolean;
    v_touches boolean := false;
BEGIN
    IF NOT p_durable THEN
        v_setting := set_config('synchronous_commit', 'off', true);
    END IF;
    -- Transactions that must be alone take this lock exclusively.
    v_setting := pg_advisory_xact_lock_shared({lock_class}, hashtext('{schema}'))::text;

    FOR i IN 1 .. cardinality(p_leases) LOOP
        PERFORM FROM {schema}.lease l WHERE l.name = p_leases[i] AND l.token = p_tokens[i] FOR SHARE;
        IF NOT FOUND THEN
            kind := 'lost';
            name := p_leases[i];
            RETURN NEXT;
            RETURN;
        END IF;
    END LOOP;

    FOR i IN 1 .. cardinality(p_names) LOOP
        IF p_expected[i] IS NOT NULL AND p_checksums[i] IS NOT NULL THEN
            UPDATE {schema}.variable v
            SET value = p_values[i], status = p_statuses[i], tags = p_tags[i], created = p_since[i],
                updated = p_updated[i], checksum = p_checksums[i]
            WHERE v.name = p_names[i] AND v.checksum = p_expected[i];
        ELSIF p_expected[i] IS NOT NULL THEN
            DELETE FROM {schema}.variable v WHERE v.name = p_names[i] AND v.checksum = p_expected[i];
        ELSE
            INSERT INTO {schema}.variable (name, value, status, tags, created, updated, checksum)
            VALUES (p_names[i], p_values[i], p_statuses[i], p_tags[i], p_since[i], p_updated[i],
                    p_checksums[i])
            ON CONFLICT (name) DO NOTHING;
        END IF;
        IF NOT FOUND THEN
            IF i > 1 THEN
                RAISE EXCEPTION 'moved' USING ERRCODE = 'UW001', DETAIL = p_names[i];
            END IF;
            kind := 'moved';  -- nothing is written yet, and a transaction around it can go on
            name := p_names[i];
            RETURN NEXT;
            RETURN;
        END IF;
    END LOOP;

    IF cardinality(p_refs) > 0 THEN
        INSERT INTO {schema}.node (ref, type, created, touched, edges, sha256, data)
        SELECT * FROM unnest(p_refs, p_types, p_created, p_touched, p_edges, p_sha256, p_data)
        ON CONFLICT (ref) DO NOTHING;
        GET DIAGNOSTICS v_done = ROW_COUNT;
        IF v_done < cardinality(p_refs) THEN
            kind := 'existing';
            FOR ref, created, v_is_same, v_is_new, v_is_late IN
                SELECT n.ref, n.created, (n.type, n.sha256, n.data) IS NOT DISTINCT FROM
                    (w.type, w.sha256, w.data),
                    n.xmin = pg_current_xact_id()::xid, n.touched + p_lag < w.touched
                FROM unnest(p_refs, p_types, p_sha256, p_data, p_touched)
                    AS w (ref, type, sha256, data, touched)
                JOIN {schema}.node n ON n.ref = w.ref
            LOOP
                IF NOT v_is_same THEN
                    RAISE EXCEPTION 'differs' USING ERRCODE = 'UW002', DETAIL = ref::text;
                END IF;
                CONTINUE WHEN v_is_new;
                v_touches := v_touches OR v_is_late;
                RETURN NEXT;
            END LOOP;
        END IF;
        IF v_touches THEN
            UPDATE {schema}.node n SET touched = old.touched
            FROM (
                SELECT o.ref, w.touched FROM unnest(p_refs, p_touched) AS w (ref, touched)
                JOIN {schema}.node o ON o.ref = w.ref
                WHERE o.touched + p_lag < w.touched
                ORDER BY o.ref FOR UPDATE OF o) old
            WHERE n.ref = old.ref;
        END IF;
    END IF;

    IF p_threads IS NOT NULL THEN  -- with the rows of workers, see 2.sql
        PERFORM {schema}.write_dispatch(
            p_threads, p_seqs, p_wanted, p_needs, p_uses, p_not_before, p_priorities, p_trees,
            p_most, p_ended, p_callers, p_moves_at, NULL);
    END IF;
END
$body$;

-- Acquire a lease that is free, has expired, or whose holder is known to be dead (its token). The
-- row of the lease afterwards; the caller has it if the token is its own.
CREATE FUNCTION {schema}.take_lease(
    p_name text, p_token bigint, p_pid bigint, p_start text, p_host text, p_since bigint,
    p_owner_pid bigint, p_owner_start text, p_owner_host text, p_seconds float8, p_dead bigint
) RETURNS SETOF {schema}.lease LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $body$
DECLARE
    v_setting text := set_config('synchronous_commit', 'off', true);
BEGIN
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
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $body$
DECLARE
    v_setting text := set_config('synchronous_commit', 'off', true);
BEGIN
    FOR i IN 1 .. cardinality(p_names) LOOP
        DELETE FROM {schema}.lease l WHERE l.name = p_names[i] AND l.token = p_tokens[i];
    END LOOP;
END
$body$;
