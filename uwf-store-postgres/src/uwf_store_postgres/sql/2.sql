-- What workers have to know of the threads that were handed to them: one row each until the thread
-- ends. `version` counts writes, so that a worker that looked before does not overwrite a later one.
-- A step changes no column of an index unless the thread rests or needs something else, so most
-- writes are HOT. The first index begins with the needs, of which there are few: see `next_needs`.
-- From `moves_at` on (ms; 0: never) a thread does not need its label `host:…`, that of its session.
-- `not_before` is when it is due: who has waited longest is claimed first. `room` is what has no room
-- for it, a label or (after `tree` and a newline) its tree: claims pass it by until there is some.
CREATE TABLE {schema}.dispatch (
    thread text COLLATE "C" PRIMARY KEY,
    seq bigint NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    wanted boolean NOT NULL,
    needs text[] COLLATE "C" NOT NULL,
    uses text[] NOT NULL,
    not_before bigint NOT NULL,
    priority integer NOT NULL,
    tree text COLLATE "C",
    most integer NOT NULL,
    said text,
    error text,
    request text,
    hinted timestamptz,
    worker text COLLATE "C",
    token bigint,
    expires timestamptz,
    moves_at bigint NOT NULL DEFAULT 0,
    room text COLLATE "C"
) WITH (fillfactor = 50);
CREATE INDEX dispatch_wanted ON {schema}.dispatch (needs, priority DESC, not_before, thread)
    WHERE wanted AND room IS NULL;
CREATE INDEX dispatch_room ON {schema}.dispatch (room, priority DESC, not_before, thread)
    WHERE room IS NOT NULL;
-- For lists alone: claims order by `priority DESC`, so that they never scan it for rare needs.
CREATE INDEX dispatch_order ON {schema}.dispatch ((-priority), not_before, thread) WHERE wanted;
CREATE INDEX dispatch_moves ON {schema}.dispatch (moves_at) WHERE moves_at > 0;
CREATE INDEX dispatch_tree ON {schema}.dispatch (tree) WHERE tree IS NOT NULL;
CREATE INDEX dispatch_claimed ON {schema}.dispatch (worker) WHERE worker IS NOT NULL;

CREATE TABLE {schema}.worker (
    id text COLLATE "C" PRIMARY KEY,
    host text NOT NULL,
    pid bigint NOT NULL,
    start text NOT NULL,
    labels text[] NOT NULL,
    drains boolean NOT NULL DEFAULT false,
    jobs bigint NOT NULL,
    thread text,
    since bigint NOT NULL,
    seen timestamptz NOT NULL,
    expires timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX worker_host ON {schema}.worker (host);

CREATE FUNCTION {schema}.now_ms() RETURNS bigint LANGUAGE sql AS $body$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$body$;

-- What a claim of a row leaves room for: its labels and its tree.
CREATE FUNCTION {schema}.rooms_of(p_uses text[], p_tree text) RETURNS text[] LANGUAGE sql IMMUTABLE
AS $body$
    SELECT array_remove(p_uses || (E'tree\n' || p_tree), NULL)
$body$;

-- Claims have ended: for each of their rooms, the first thread that waits for it is looked at again.
-- What this misses, `free_rooms` finds. Last in a transaction, since it locks rows in any order.
CREATE FUNCTION {schema}.free_room(p_rooms text[]) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $body$
DECLARE
    v_room text;
BEGIN
    IF NOT EXISTS (SELECT FROM {schema}.dispatch d WHERE d.room IS NOT NULL) THEN
        RETURN;
    END IF;
    FOREACH v_room IN ARRAY p_rooms LOOP
        UPDATE {schema}.dispatch d SET room = NULL, hinted = NULL WHERE d.thread = (
            SELECT o.thread FROM {schema}.dispatch o WHERE o.room = v_room
            ORDER BY o.priority DESC, o.not_before, o.thread LIMIT 1 FOR UPDATE SKIP LOCKED);
    END LOOP;
END
$body$;

-- The caller of a thread that has ended becomes wanted, that of a fan-out with its last branch: its
-- row is locked, so of two branches that end at once the second sees that the first has ended.
CREATE FUNCTION {schema}.wake_callers(p_callers text[], p_trees text[], p_ended boolean[])
RETURNS void LANGUAGE sql AS $body$
    UPDATE {schema}.dispatch d
    SET version = d.version + 1, wanted = true, room = NULL, hinted = NULL,
        not_before = least(CASE WHEN d.wanted THEN d.not_before END, {schema}.now_ms())
    FROM (SELECT DISTINCT caller, tree FROM unnest(p_callers, p_trees, p_ended)
            AS w (caller, tree, ended) WHERE w.ended) AS w
    WHERE d.thread = w.caller AND NOT EXISTS (
        SELECT FROM {schema}.dispatch o WHERE o.tree = w.tree);
$body$;

-- Write rows; those of threads that have ended are deleted. Labels are joined by newlines, since
-- arrays of arrays must be rectangular. Locked in the order of threads, in which the arrays are.
CREATE FUNCTION {schema}.write_dispatch(
    p_threads text[], p_seqs bigint[], p_wanted boolean[], p_needs text[], p_uses text[],
    p_not_before bigint[], p_priorities integer[], p_trees text[], p_most integer[],
    p_ended boolean[], p_callers text[], p_moves_at bigint[], p_said text
) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $body$
DECLARE
    v_now bigint := {schema}.now_ms();
    v_found text[];
    v_rooms text[] := '{}';
    v_wakes boolean := true = ANY (p_ended) AND cardinality(array_remove(p_callers, NULL)) > 0;
BEGIN
    IF v_wakes THEN  -- the callers are locked in the same order
        PERFORM FROM {schema}.dispatch d
        WHERE d.thread = ANY (p_threads) OR d.thread = ANY (p_callers)
        ORDER BY d.thread FOR UPDATE;
    END IF;
    FOR i IN 1 .. cardinality(p_threads) LOOP
        IF p_ended[i] THEN
            DELETE FROM {schema}.dispatch d WHERE d.thread = p_threads[i]
            RETURNING {schema}.rooms_of(d.uses, d.tree) INTO v_found;
            v_rooms := v_rooms || v_found;
            CONTINUE;
        END IF;
        INSERT INTO {schema}.dispatch AS d (
            thread, seq, wanted, needs, uses, not_before, priority, tree, most, moves_at, said)
        VALUES (p_threads[i], p_seqs[i], p_wanted[i], string_to_array(p_needs[i], E'\n'),
                string_to_array(p_uses[i], E'\n'),
                CASE WHEN p_not_before[i] > 0 THEN p_not_before[i] ELSE v_now END,
                p_priorities[i], p_trees[i], p_most[i], p_moves_at[i], p_said)
        ON CONFLICT (thread) DO UPDATE
        SET seq = excluded.seq, version = d.version + 1, wanted = excluded.wanted,
            needs = excluded.needs, uses = excluded.uses,
            not_before = CASE
                WHEN d.wanted AND d.not_before <= v_now AND excluded.not_before <= v_now
                THEN d.not_before ELSE excluded.not_before END,
            room = CASE WHEN excluded.wanted AND (d.uses, d.tree) IS NOT DISTINCT FROM
                (excluded.uses, excluded.tree) THEN d.room END,
            priority = excluded.priority, tree = excluded.tree, most = excluded.most, error = NULL,
            moves_at = excluded.moves_at,
            said = CASE WHEN p_said IS NOT NULL THEN p_said
                WHEN d.seq = excluded.seq THEN d.said END,
            request = CASE WHEN p_said IS NULL THEN d.request END,
            hinted = CASE WHEN d.wanted THEN d.hinted END;
    END LOOP;
    IF v_wakes THEN
        PERFORM {schema}.wake_callers(p_callers, p_trees, p_ended);
    END IF;
    IF v_rooms > '{}' THEN
        PERFORM {schema}.free_room(v_rooms);
    END IF;
END
$body$;

-- What has no room for one more thread with these labels, NULL if it may run. Claims that compare
-- wait for each other.
CREATE FUNCTION {schema}.full_room(
    p_uses text[], p_tree text, p_most integer, p_labels text[], p_counts integer[]
) RETURNS text LANGUAGE plpgsql AS $body$
BEGIN
    IF p_tree IS NULL AND NOT p_uses && p_labels THEN
        RETURN NULL;
    END IF;
    PERFORM pg_advisory_xact_lock({lock_class}, hashtext('{schema} limits'));
    IF p_tree IS NOT NULL AND p_most <= (
        SELECT count(*) FROM {schema}.dispatch d
        WHERE d.worker IS NOT NULL AND d.expires >= clock_timestamp() AND d.tree = p_tree) THEN
        RETURN E'tree\n' || p_tree;
    END IF;
    RETURN (
        SELECT w.label FROM unnest(p_labels, p_counts) AS w (label, most)
        WHERE w.label = ANY (p_uses) AND w.most <= (
            SELECT count(*) FROM {schema}.dispatch d
            WHERE d.worker IS NOT NULL AND d.expires >= clock_timestamp()
                AND d.uses @> ARRAY[w.label])
        LIMIT 1);
END
$body$;

-- Let up to 500 threads like this one wait for room: of its tree, or of the same needs. They keep
-- the time since which they wait.
CREATE FUNCTION {schema}.wait_for_room(p_row {schema}.dispatch, p_room text, p_now bigint)
RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $body$
DECLARE
    v_threads text[];
BEGIN
    IF p_room = E'tree\n' || p_row.tree THEN
        v_threads := ARRAY(
            SELECT o.thread FROM {schema}.dispatch o
            WHERE o.tree = p_row.tree AND o.wanted AND o.room IS NULL AND o.not_before <= p_now
                AND (o.worker IS NULL OR o.expires < clock_timestamp())
            LIMIT 500 FOR UPDATE SKIP LOCKED);
    ELSE
        v_threads := ARRAY(
            SELECT f.thread FROM (
                SELECT o.thread, o.uses FROM {schema}.dispatch o
                WHERE o.wanted AND o.room IS NULL AND o.needs = p_row.needs
                    AND o.not_before <= p_now
                    AND (o.worker IS NULL OR o.expires < clock_timestamp())
                ORDER BY o.priority DESC, o.not_before, o.thread LIMIT 500
                FOR UPDATE SKIP LOCKED) AS f
            WHERE f.uses @> ARRAY[p_room]);
    END IF;
    UPDATE {schema}.dispatch d SET room = p_room, hinted = NULL
    WHERE d.thread = ANY (v_threads || p_row.thread);
END
$body$;

-- Look again at threads that wait for room where there is some now: the worker of another one has
-- died, or nobody was told. Up to 100 rooms after `p_after` are looked at; the last of them, '' after
-- the last of all. Of a label without a limit here, another worker knows the limit.
CREATE FUNCTION {schema}.free_rooms(p_limited text[], p_counts integer[], p_after text)
RETURNS text LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $body$
DECLARE
    v_room text := p_after;
    v_tree text;
    v_free bigint;
    v_setting text := set_config('synchronous_commit', 'off', true);
BEGIN
    FOR turn IN 1 .. 100 LOOP
        SELECT d.room, d.tree, d.most INTO v_room, v_tree, v_free FROM {schema}.dispatch d
        WHERE d.room > v_room ORDER BY d.room LIMIT 1;
        IF NOT FOUND THEN
            RETURN '';
        END IF;
        IF v_room = E'tree\n' || v_tree THEN
            v_free := v_free - (
                SELECT count(*) FROM {schema}.dispatch d
                WHERE d.worker IS NOT NULL AND d.expires >= clock_timestamp() AND d.tree = v_tree);
        ELSE
            v_free := coalesce((
                SELECT w.most FROM unnest(p_limited, p_counts) AS w (label, most)
                WHERE w.label = v_room) - (
                SELECT count(*) FROM {schema}.dispatch d
                WHERE d.worker IS NOT NULL AND d.expires >= clock_timestamp()
                    AND d.uses @> ARRAY[v_room]), 1);
        END IF;
        UPDATE {schema}.dispatch d SET room = NULL, hinted = NULL WHERE d.thread = ANY (ARRAY(
            SELECT o.thread FROM {schema}.dispatch o WHERE o.room = v_room
            ORDER BY o.priority DESC, o.not_before, o.thread LIMIT greatest(least(v_free, 20), 0)
            FOR UPDATE SKIP LOCKED));
    END LOOP;
    RETURN v_room;
END
$body$;

-- The first needs of wanted rows, from `p_from` on, that a worker with these labels has: it skips
-- all needs with a label that the worker lacks, so its cost does not grow with the rows.
CREATE FUNCTION {schema}.next_needs(p_labels text[], p_from text[]) RETURNS text[] LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $body$
DECLARE
    v_from text[] := p_from;
    v_needs text[];
    v_place integer;
    v_next text;
BEGIN
    LOOP
        SELECT d.needs INTO v_needs FROM {schema}.dispatch d
        WHERE d.wanted AND d.room IS NULL AND d.needs >= v_from ORDER BY d.needs LIMIT 1;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        IF v_needs <@ p_labels THEN
            RETURN v_needs;
        END IF;
        v_place := 1;
        WHILE v_needs[v_place] = ANY (p_labels) LOOP
            v_place := v_place + 1;
        END LOOP;
        LOOP  -- the next label of the worker at the place of the one that it lacks, or before it
            IF v_place = 0 THEN
                RETURN NULL;
            END IF;
            SELECT w.label INTO v_next FROM unnest(p_labels) AS w (label)
            WHERE w.label COLLATE "C" > v_needs[v_place] ORDER BY w.label COLLATE "C" LIMIT 1;
            EXIT WHEN FOUND;
            v_place := v_place - 1;
        END LOOP;
        v_from := v_needs[1 : v_place - 1] || v_next;
    END LOOP;
END
$body$;

-- Up to `p_most` different needs of wanted rows that a worker with these labels has, from `p_from`
-- on, and from the beginning after the last one. The least that comes after needs is `needs || ''`.
CREATE FUNCTION {schema}.fitting_needs(p_labels text[], p_from text[], p_most integer)
RETURNS SETOF text[] LANGUAGE plpgsql AS $body$
DECLARE
    v_needs text[] := {schema}.next_needs(p_labels, p_from);
    v_is_again boolean := false;
BEGIN
    FOR turn IN 1 .. p_most LOOP
        IF v_needs IS NULL AND NOT v_is_again AND p_from > '{}' THEN
            v_is_again := true;
            v_needs := {schema}.next_needs(p_labels, '{}');
        END IF;
        EXIT WHEN v_needs IS NULL;
        EXIT WHEN v_is_again AND v_needs COLLATE "C" >= p_from COLLATE "C";  -- as the index
        RETURN NEXT v_needs;
        v_needs := {schema}.next_needs(p_labels, v_needs || ''::text);
    END LOOP;
END
$body$;

-- Claim a row that may be run, the first by priority and then by the time since which it waits. Of
-- more than 100 kinds of needs, 100 are compared, from `p_from` on, and more if they have no row.
CREATE FUNCTION {schema}.claim_dispatch(
    p_worker text, p_token bigint, p_labels text[], p_limited text[], p_counts integer[],
    p_thread text, p_seconds float8, p_from text[]
) RETURNS SETOF {schema}.dispatch LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $body$
DECLARE
    v_row {schema}.dispatch;
    v_needs text[];
    v_kinds integer;
    v_walked integer;
    v_now bigint;
    v_room text;
    v_setting text := set_config('synchronous_commit', 'off', true);
BEGIN
    FOR turn IN 1 .. 50 LOOP
        v_now := {schema}.now_ms();
        IF p_thread IS NOT NULL THEN
            SELECT * INTO v_row FROM {schema}.dispatch d
            WHERE d.thread = p_thread AND d.wanted AND d.not_before <= v_now
                AND (d.worker IS NULL OR d.expires < clock_timestamp()) AND d.needs <@ p_labels
            FOR UPDATE SKIP LOCKED;
        ELSE
            v_kinds := 100;
            LOOP
                WITH walked AS MATERIALIZED (
                    SELECT f.needs FROM {schema}.fitting_needs(p_labels, p_from, v_kinds)
                        AS f (needs))
                SELECT (SELECT count(*) FROM walked), (
                    SELECT walked.needs FROM walked CROSS JOIN LATERAL (
                        SELECT d.priority, d.not_before, d.thread FROM {schema}.dispatch d
                        WHERE d.wanted AND d.room IS NULL AND d.needs = walked.needs
                            AND d.not_before <= v_now
                            AND (d.worker IS NULL OR d.expires < clock_timestamp())
                        ORDER BY d.priority DESC, d.not_before, d.thread LIMIT 1) AS best
                    ORDER BY best.priority DESC, best.not_before, best.thread LIMIT 1)
                INTO v_walked, v_needs;
                EXIT WHEN v_needs IS NOT NULL;
                IF v_walked < v_kinds THEN
                    RETURN;
                END IF;
                v_kinds := v_kinds * 10;
            END LOOP;
            SELECT * INTO v_row FROM {schema}.dispatch d
            WHERE d.wanted AND d.room IS NULL AND d.needs = v_needs AND d.not_before <= v_now
                AND (d.worker IS NULL OR d.expires < clock_timestamp())
            ORDER BY d.priority DESC, d.not_before, d.thread LIMIT 1 FOR UPDATE SKIP LOCKED;
            CONTINUE WHEN NOT FOUND;  -- others were faster
        END IF;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        IF v_row.request IS NOT NULL THEN  -- the worker that was asked to stop it has died
            UPDATE {schema}.dispatch d
            SET wanted = false, request = NULL, version = d.version + 1, worker = NULL, token = NULL,
                room = NULL
            WHERE d.thread = v_row.thread;
            CONTINUE;
        END IF;
        v_room := {schema}.full_room(v_row.uses, v_row.tree, v_row.most, p_limited, p_counts);
        IF v_room IS NULL THEN
            RETURN QUERY UPDATE {schema}.dispatch d
            SET worker = p_worker, token = p_token, room = NULL,
                hinted = NULL,  -- if it dies, it is due at once
                expires = clock_timestamp() + make_interval(secs => p_seconds)
            WHERE d.thread = v_row.thread RETURNING d.*;
            RETURN;
        END IF;
        PERFORM {schema}.wait_for_room(v_row, v_room, v_now);
        EXIT WHEN p_thread IS NOT NULL;
    END LOOP;
END
$body$;

-- Threads that a worker with these labels could run now, of which no queue was told lately; at most
-- 300 kinds of needs are looked at, from `p_from` on. The last row has no thread: the last of them.
-- Threads whose time to stay on a machine has passed can be run by all from now on.
CREATE FUNCTION {schema}.due_dispatch(
    p_labels text[], p_quiet float8, p_most integer, p_from text[]
) RETURNS TABLE (thread text, needs text[]) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $body$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_ms bigint := {schema}.now_ms();
    v_needs text[];
    v_left integer := p_most;
    v_found integer;
    v_setting text := set_config('synchronous_commit', 'off', true);
BEGIN
    UPDATE {schema}.dispatch d
    SET needs = {schema}.without_host(d.needs), uses = {schema}.without_host(d.uses),
        moves_at = 0, hinted = NULL, version = d.version + 1
    WHERE d.thread = ANY (ARRAY(
        SELECT o.thread FROM {schema}.dispatch o
        WHERE o.moves_at > 0 AND o.moves_at <= v_ms
            AND (o.worker IS NULL OR o.expires < v_now)
        ORDER BY o.moves_at LIMIT 100 FOR UPDATE SKIP LOCKED));
    FOR v_needs IN SELECT * FROM {schema}.fitting_needs(p_labels, p_from, 300) LOOP
        RETURN QUERY
        UPDATE {schema}.dispatch d SET hinted = v_now WHERE d.thread = ANY (ARRAY(
            SELECT o.thread FROM {schema}.dispatch o
            WHERE o.wanted AND o.room IS NULL AND o.needs = v_needs AND o.not_before <= v_ms
                AND (o.worker IS NULL OR o.expires < v_now)
                AND (o.hinted IS NULL OR o.hinted < v_now - make_interval(secs => p_quiet))
            ORDER BY o.priority DESC, o.not_before, o.thread LIMIT v_left FOR UPDATE SKIP LOCKED))
        RETURNING d.thread, d.needs;
        GET DIAGNOSTICS v_found = ROW_COUNT;
        v_left := v_left - v_found;
        EXIT WHEN v_left <= 0;
    END LOOP;
    RETURN QUERY SELECT NULL::text, v_needs WHERE v_needs IS NOT NULL;
END
$body$;

-- Labels without those of machines.
CREATE FUNCTION {schema}.without_host(p_labels text[]) RETURNS text[] LANGUAGE sql IMMUTABLE
AS $body$
    SELECT ARRAY(
        SELECT w.label FROM unnest(p_labels) WITH ORDINALITY AS w (label, place)
        WHERE w.label NOT LIKE 'host:%' ORDER BY w.place);
$body$;

-- Wanted rows that nobody runs and whose labels no live worker has. The kinds of needs are looked at
-- one after the other, at most 10,000 of them, so rows that workers can run cost nothing.
CREATE FUNCTION {schema}.unserved_dispatch(p_most integer) RETURNS SETOF {schema}.dispatch
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET jit = off AS $body$
DECLARE
    v_needs text[];
    v_from text[] := '{}';
    v_left integer := p_most;
    v_found integer;
BEGIN
    FOR turn IN 1 .. 10000 LOOP
        SELECT d.needs INTO v_needs FROM {schema}.dispatch d
        WHERE d.wanted AND d.room IS NULL AND d.needs >= v_from ORDER BY d.needs LIMIT 1;
        EXIT WHEN NOT FOUND OR v_left <= 0;
        IF NOT EXISTS (
            SELECT FROM {schema}.worker w
            WHERE w.expires >= clock_timestamp() AND NOT w.drains AND v_needs <@ w.labels) THEN
            RETURN QUERY SELECT d.* FROM {schema}.dispatch d
            WHERE d.wanted AND d.room IS NULL AND d.needs = v_needs AND d.moves_at = 0
                AND (d.worker IS NULL OR d.expires < clock_timestamp())
            ORDER BY d.priority DESC, d.not_before, d.thread LIMIT v_left;
            GET DIAGNOSTICS v_found = ROW_COUNT;
            v_left := v_left - v_found;
        END IF;
        v_from := v_needs || ''::text;
    END LOOP;
END
$body$;

-- End a claim and write the row, if it is still as the worker has seen it.
CREATE FUNCTION {schema}.settle_dispatch(
    p_thread text, p_token bigint, p_version bigint, p_seq bigint, p_wanted boolean, p_needs text,
    p_uses text, p_not_before bigint, p_ended boolean, p_error text, p_keeps boolean, p_tree text,
    p_caller text, p_moves_at bigint
) RETURNS boolean LANGUAGE plpgsql AS $body$
DECLARE
    v_rooms text[];
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    IF p_ended THEN
        PERFORM FROM {schema}.dispatch d WHERE d.thread IN (p_thread, p_caller)
        ORDER BY d.thread FOR UPDATE;
    END IF;
    SELECT {schema}.rooms_of(d.uses, d.tree) INTO v_rooms FROM {schema}.dispatch d
    WHERE d.thread = p_thread AND d.token = p_token AND d.version = p_version FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF p_ended THEN
        DELETE FROM {schema}.dispatch d WHERE d.thread = p_thread;
        IF p_caller IS NOT NULL THEN
            PERFORM {schema}.wake_callers(ARRAY[p_caller], ARRAY[p_tree], ARRAY[true]);
        PERFORM {schema}.free_room(v_rooms);
        END IF;
        RETURN true;
    END IF;
    UPDATE {schema}.dispatch d
    SET seq = p_seq, version = d.version + 1, wanted = p_wanted,
        needs = string_to_array(p_needs, E'\n'), uses = string_to_array(p_uses, E'\n'),
        not_before = CASE WHEN p_not_before > 0 THEN p_not_before ELSE {schema}.now_ms() END,
        moves_at = p_moves_at, error = p_error, said = CASE WHEN p_keeps THEN d.said END,
        request = NULL, hinted = NULL, worker = NULL, token = NULL, expires = NULL, room = NULL
    WHERE d.thread = p_thread;
    PERFORM {schema}.free_room(v_rooms);
    RETURN true;
END
$body$;

-- Register a worker or renew it, and its claims; what is asked of it.
CREATE FUNCTION {schema}.beat_worker(
    p_id text, p_host text, p_pid bigint, p_start text, p_labels text[], p_drains boolean,
    p_jobs bigint, p_thread text, p_since bigint, p_seconds float8
) RETURNS text LANGUAGE plpgsql AS $body$
DECLARE
    v_until timestamptz := clock_timestamp() + make_interval(secs => p_seconds);
    v_drains boolean;
    v_request text;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO {schema}.worker AS w
    VALUES (p_id, p_host, p_pid, p_start, p_labels, p_drains, p_jobs, p_thread, p_since,
            clock_timestamp(), v_until)
    ON CONFLICT (id) DO UPDATE
    SET drains = w.drains OR excluded.drains, jobs = excluded.jobs, thread = excluded.thread,
        seen = excluded.seen, expires = excluded.expires
    RETURNING w.drains INTO v_drains;
    UPDATE {schema}.dispatch d SET expires = v_until
    WHERE d.worker = p_id AND d.thread = p_thread RETURNING d.request INTO v_request;
    RETURN coalesce(v_request, CASE WHEN v_drains THEN 'drain' END);
END
$body$;
