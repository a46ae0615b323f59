-- +goose Up
-- Synchronization: seq is the place of a row's last change among the writes of its owner (ADR 83).
CREATE TABLE owners (
    owner_id  uuid   NOT NULL,
    -- The number of the owner's last write. Each write increments it and holds the row until it commits, so that numbers become
    -- visible in order.
    seq       bigint NOT NULL,
    -- A reader whose position is before this number may have missed a tombstone that was deleted.
    swept_seq bigint NOT NULL DEFAULT 0,
    CONSTRAINT owners_pkey PRIMARY KEY (owner_id)
) WITH (fillfactor = 50);

-- The deleted objects.
CREATE TABLE tombstones (
    owner_id   uuid        NOT NULL,
    kind       text        NOT NULL CONSTRAINT tombstones_kind
        CHECK (kind IN ('wallet', 'category', 'transaction', 'transfer', 'tag', 'recurrence', 'rule')),
    -- The id of the object, or the name of a tag.
    id         text        NOT NULL,
    -- The wallet of a transaction, whose balance the deletion changed.
    wallet_id  uuid,
    seq        bigint      NOT NULL,
    deleted_at timestamptz NOT NULL,
    CONSTRAINT tombstones_pkey PRIMARY KEY (owner_id, kind, id)
);
CREATE INDEX tombstones_seq ON tombstones (owner_id, seq);
CREATE INDEX tombstones_deleted_at ON tombstones (deleted_at);

-- What an owner prefers. Without a row, the defaults of the API apply.
CREATE TABLE settings (
    owner_id            uuid        NOT NULL,
    -- A name of the IANA time zone database.
    time_zone           text        NOT NULL CONSTRAINT settings_time_zone_length CHECK (char_length(time_zone) <= 64),
    week_start          text        NOT NULL CONSTRAINT settings_week_start CHECK (week_start IN ('monday', 'sunday', 'saturday')),
    -- Empty, or a BCP 47 language tag.
    locale              text        NOT NULL CONSTRAINT settings_locale_length CHECK (char_length(locale) <= 35),
    -- Empty, or an ISO 4217 code.
    base_currency       text        NOT NULL,
    default_wallet_id   uuid,
    default_category_id uuid,
    version             bigint      NOT NULL,
    seq                 bigint      NOT NULL DEFAULT -1,
    updated_at          timestamptz NOT NULL,
    CONSTRAINT settings_pkey PRIMARY KEY (owner_id),
    -- The previous release deletes wallets and categories without a look at the settings.
    CONSTRAINT settings_wallet_fkey FOREIGN KEY (owner_id, default_wallet_id) REFERENCES wallets
        ON DELETE SET NULL (default_wallet_id),
    CONSTRAINT settings_category_fkey FOREIGN KEY (owner_id, default_category_id) REFERENCES categories
        ON DELETE SET NULL (default_category_id)
);

-- 0 is a row that has not been written since this migration, and -1 one whose writer took no number. A reader numbers the latter.
ALTER TABLE transactions ALTER COLUMN seq SET DEFAULT -1;
ALTER TABLE wallets ADD COLUMN seq bigint NOT NULL DEFAULT 0;
ALTER TABLE wallets ALTER COLUMN seq SET DEFAULT -1;
ALTER TABLE categories ADD COLUMN seq bigint NOT NULL DEFAULT 0;
ALTER TABLE categories ALTER COLUMN seq SET DEFAULT -1;

-- The number that the current database transaction took for an owner, or -1 if it took none: xmin is the transaction that wrote
-- the row. Replicas of the previous release take none. The function takes no lock, so it cannot add a deadlock to a write.
-- +goose StatementBegin
CREATE FUNCTION taken_seq(owner uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	RETURN coalesce((SELECT seq FROM owners WHERE owner_id = owner AND xmin = pg_current_xact_id()::xid), -1);
END
$$;
-- +goose StatementEnd

-- Numbers each inserted or changed row whose statement does not.
-- +goose StatementBegin
CREATE FUNCTION number_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.seq := taken_seq(NEW.owner_id);
	RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER transactions_number_new BEFORE INSERT ON transactions
	FOR EACH ROW WHEN (NEW.seq < 0) EXECUTE FUNCTION number_row();
CREATE TRIGGER transactions_number_changed BEFORE UPDATE ON transactions
	FOR EACH ROW WHEN (NEW.seq = OLD.seq) EXECUTE FUNCTION number_row();
CREATE TRIGGER wallets_number_new BEFORE INSERT ON wallets
	FOR EACH ROW WHEN (NEW.seq < 0) EXECUTE FUNCTION number_row();
CREATE TRIGGER wallets_number_changed BEFORE UPDATE ON wallets
	FOR EACH ROW WHEN (NEW.seq = OLD.seq) EXECUTE FUNCTION number_row();
CREATE TRIGGER categories_number_new BEFORE INSERT ON categories
	FOR EACH ROW WHEN (NEW.seq < 0) EXECUTE FUNCTION number_row();
CREATE TRIGGER categories_number_changed BEFORE UPDATE ON categories
	FOR EACH ROW WHEN (NEW.seq = OLD.seq) EXECUTE FUNCTION number_row();
CREATE TRIGGER settings_number_new BEFORE INSERT ON settings
	FOR EACH ROW WHEN (NEW.seq < 0) EXECUTE FUNCTION number_row();
CREATE TRIGGER settings_number_changed BEFORE UPDATE ON settings
	FOR EACH ROW WHEN (NEW.seq = OLD.seq) EXECUTE FUNCTION number_row();

-- A transaction that moves to another wallet changes the balance of the former one, which a reader must see again.
-- +goose StatementBegin
CREATE FUNCTION number_previous_wallet() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE wallets SET seq = taken_seq(OLD.owner_id) WHERE owner_id = OLD.owner_id AND id = OLD.wallet_id;
	RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER transactions_previous_wallet AFTER UPDATE OF wallet_id ON transactions
	FOR EACH ROW WHEN (NEW.wallet_id <> OLD.wallet_id) EXECUTE FUNCTION number_previous_wallet();

-- Writes the tombstones of deleted rows. The arguments are the kind and the column of the id.
-- +goose StatementBegin
CREATE FUNCTION bury_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO tombstones AS t (owner_id, kind, id, seq, deleted_at)
	SELECT d.owner_id, TG_ARGV[0], to_jsonb(d) ->> TG_ARGV[1], taken_seq(d.owner_id), now()
	FROM deleted d
	ORDER BY 1, 3
	ON CONFLICT (owner_id, kind, id) DO UPDATE SET seq = EXCLUDED.seq, deleted_at = EXCLUDED.deleted_at;
	RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER wallets_bury AFTER DELETE ON wallets
	REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION bury_rows('wallet', 'id');
CREATE TRIGGER categories_bury AFTER DELETE ON categories
	REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION bury_rows('category', 'id');

-- Writes the tombstones of deleted transactions and of the transfers whose legs they were.
-- +goose StatementBegin
CREATE FUNCTION bury_transactions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO tombstones AS t (owner_id, kind, id, wallet_id, seq, deleted_at)
	SELECT d.owner_id, d.kind, d.id, d.wallet_id, o.seq, now()
	FROM (
		SELECT owner_id, 'transaction' AS kind, id::text AS id, wallet_id FROM deleted
		UNION
		SELECT owner_id, 'transfer', transfer_id::text, NULL FROM deleted WHERE transfer_id IS NOT NULL
	) AS d
	JOIN (SELECT owner_id, taken_seq(owner_id) AS seq FROM deleted GROUP BY owner_id) AS o USING (owner_id)
	ORDER BY 1, 2, 3
	ON CONFLICT (owner_id, kind, id) DO UPDATE SET seq = EXCLUDED.seq, deleted_at = EXCLUDED.deleted_at;
	RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER transactions_bury AFTER DELETE ON transactions
	REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION bury_transactions();

-- Writes the tombstone of a transfer whose legs become ordinary transactions.
-- +goose StatementBegin
CREATE FUNCTION bury_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO tombstones AS t (owner_id, kind, id, seq, deleted_at)
	VALUES (OLD.owner_id, 'transfer', OLD.transfer_id::text, taken_seq(OLD.owner_id), now())
	ON CONFLICT (owner_id, kind, id) DO UPDATE SET seq = EXCLUDED.seq, deleted_at = EXCLUDED.deleted_at;
	RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER transactions_unlink AFTER UPDATE OF transfer_id ON transactions
	FOR EACH ROW WHEN (OLD.transfer_id IS NOT NULL AND NEW.transfer_id IS DISTINCT FROM OLD.transfer_id)
	EXECUTE FUNCTION bury_transfer();
