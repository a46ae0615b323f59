-- +goose Up
CREATE TABLE rules (
    owner_id           uuid        NOT NULL,
    id                 uuid        NOT NULL,
    name               text        NOT NULL CONSTRAINT rules_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    enabled            boolean     NOT NULL,
    position           integer     NOT NULL,
    -- Any condition is enough; otherwise all must be met.
    match_any          boolean     NOT NULL,
    stop               boolean     NOT NULL,
    -- import, receipt, recurrence.
    sources            text[]      NOT NULL,
    -- Lists of coffer.ledger.v1.RuleCondition and RuleAction in JSON. The id of the category that an action sets is in category_id.
    conditions         jsonb       NOT NULL,
    actions            jsonb       NOT NULL,
    -- A merge of categories changes this column and no other part of a rule.
    category_id        uuid,
    applied_count      integer     NOT NULL DEFAULT 0,
    last_applied_at    timestamptz,
    version            bigint      NOT NULL,
    -- The place among the writes of the owner, for synchronization.
    seq                bigint      NOT NULL DEFAULT -1,
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    CONSTRAINT rules_pkey PRIMARY KEY (owner_id, id),
    -- The name is the one of the constraint on transactions: the previous release answers CATEGORY_IN_USE to its violation.
    CONSTRAINT transactions_category_fkey FOREIGN KEY (owner_id, category_id) REFERENCES categories
);
CREATE INDEX rules_category ON rules (owner_id, category_id) WHERE category_id IS NOT NULL;
CREATE INDEX rules_seq ON rules (owner_id, seq, id);

-- The wallets that the conditions and actions of rules name.
CREATE TABLE rule_wallets (
    owner_id  uuid NOT NULL,
    rule_id   uuid NOT NULL,
    wallet_id uuid NOT NULL,
    CONSTRAINT rule_wallets_pkey PRIMARY KEY (owner_id, rule_id, wallet_id),
    CONSTRAINT rule_wallets_rule_fkey FOREIGN KEY (owner_id, rule_id) REFERENCES rules ON DELETE CASCADE,
    -- The previous release answers WALLET_IN_USE to the violation of a constraint with this name.
    CONSTRAINT transactions_wallet_fkey FOREIGN KEY (owner_id, wallet_id) REFERENCES wallets
);
CREATE INDEX rule_wallets_wallet ON rule_wallets (owner_id, wallet_id);

-- The latest application of a rule to existing transactions.
CREATE TABLE rule_jobs (
    owner_id     uuid        NOT NULL,
    rule_id      uuid        NOT NULL,
    status       text        NOT NULL CONSTRAINT rule_jobs_status CHECK (status IN ('queued', 'running', 'done', 'failed')),
    done         bigint      NOT NULL DEFAULT 0,
    total        bigint      NOT NULL DEFAULT 0,
    -- The code of the error that ended the job.
    problem      text        NOT NULL DEFAULT '',
    -- The transactions: from window_start to before window_end, in a wallet. Null is no limit.
    window_start timestamptz,
    window_end   timestamptz,
    wallet_id    uuid,
    -- The position: transactions up to this date and id are processed.
    after_date   timestamptz NOT NULL DEFAULT '-infinity',
    after_id     uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    -- Number of leases since the job last made progress.
    attempts     integer     NOT NULL DEFAULT 0,
    -- The replica that runs the job holds the lease until then. Each lease has an id, so that a replica that lost it notices.
    lease        uuid,
    leased_until timestamptz,
    queued_at    timestamptz NOT NULL,
    CONSTRAINT rule_jobs_pkey PRIMARY KEY (owner_id, rule_id),
    CONSTRAINT rule_jobs_rule_fkey FOREIGN KEY (owner_id, rule_id) REFERENCES rules ON DELETE CASCADE
);
CREATE INDEX rule_jobs_waiting ON rule_jobs (queued_at) WHERE status IN ('queued', 'running');

-- The functions of migration 0027 do not exist yet when this migration runs, so these call them by name when a row changes.
-- +goose StatementBegin
CREATE FUNCTION number_rule() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.seq := taken_seq(NEW.owner_id);
	RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER rules_number_new BEFORE INSERT ON rules
    FOR EACH ROW WHEN (NEW.seq < 0) EXECUTE FUNCTION number_rule();
CREATE TRIGGER rules_number_changed BEFORE UPDATE ON rules
    FOR EACH ROW WHEN (NEW.seq = OLD.seq) EXECUTE FUNCTION number_rule();
-- +goose StatementBegin
CREATE FUNCTION bury_rules() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO tombstones AS t (owner_id, kind, id, seq, deleted_at)
	SELECT d.owner_id, 'rule', d.id::text, taken_seq(d.owner_id), now()
	FROM deleted d
	ORDER BY 1, 3
	ON CONFLICT (owner_id, kind, id) DO UPDATE SET seq = EXCLUDED.seq, deleted_at = EXCLUDED.deleted_at;
	RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER rules_bury AFTER DELETE ON rules
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION bury_rules();
