-- +goose Up
CREATE TABLE imports (
    owner_id     uuid        NOT NULL,
    id           uuid        NOT NULL,
    -- uploading: the file is being received, and other requests do not see the import.
    status       text        NOT NULL CONSTRAINT imports_status
        CHECK (status IN ('uploading', 'preview', 'queued', 'running', 'done', 'failed', 'undoing', 'undone')),
    file_name    text        NOT NULL,
    size         bigint      NOT NULL,
    sha256       bytea       NOT NULL,
    format       text        NOT NULL,
    -- The mapping, accounts, categories, defaults and warnings, as a coffer.ledger.v1.Import in JSON.
    details      jsonb       NOT NULL,
    -- The numbers of rows by status.
    ready        integer     NOT NULL DEFAULT 0,
    duplicate    integer     NOT NULL DEFAULT 0,
    matched      integer     NOT NULL DEFAULT 0,
    invalid      integer     NOT NULL DEFAULT 0,
    skipped      integer     NOT NULL DEFAULT 0,
    booked       integer     NOT NULL DEFAULT 0,
    undone       integer     NOT NULL DEFAULT 0,
    first_date   date,
    last_date    date,
    -- Progress of the commit or the undo.
    job_done     bigint      NOT NULL DEFAULT 0,
    job_total    bigint      NOT NULL DEFAULT 0,
    -- The code of the error that ended the job.
    problem      text        NOT NULL DEFAULT '',
    -- The undo also deletes changed transactions.
    undo_force   boolean     NOT NULL DEFAULT false,
    -- The replica that runs the job holds the lease until then. Each lease has an id, so that a replica that lost it notices.
    lease        uuid,
    leased_until timestamptz,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    CONSTRAINT imports_pkey PRIMARY KEY (owner_id, id)
);
CREATE INDEX imports_file ON imports (owner_id, sha256);
CREATE INDEX imports_jobs ON imports (updated_at) WHERE status IN ('queued', 'running', 'undoing');
CREATE INDEX imports_unfinished ON imports (updated_at) WHERE status IN ('uploading', 'preview');

CREATE TABLE import_rows (
    owner_id           uuid     NOT NULL,
    import_id          uuid     NOT NULL,
    n                  integer  NOT NULL,
    line               integer  NOT NULL,
    -- hidden: the row is no transaction under the present mapping, for example a heading.
    status             text     NOT NULL CONSTRAINT import_rows_status
        CHECK (status IN ('hidden', 'ready', 'duplicate', 'matched', 'invalid', 'skipped', 'booked', 'undone')),
    cells              text[]   NOT NULL,
    -- What the file says.
    date               date,
    amount             text     NOT NULL,
    currency           text     NOT NULL,
    payee              text     NOT NULL,
    description        text     NOT NULL,
    notes              text     NOT NULL,
    tags               text[]   NOT NULL,
    external_id        text     NOT NULL,
    account            text     NOT NULL,
    category           text     NOT NULL,
    splits             jsonb,
    transfer           jsonb,
    opening            boolean  NOT NULL,
    file_problem       text     NOT NULL,
    -- What the user decided.
    action             text     NOT NULL,
    chosen_category_id uuid,
    chosen_description text,
    chosen_payee       text,
    chosen_wallet_id   uuid,
    -- What follows for the transaction.
    problem            text     NOT NULL,
    wallet_id          uuid,
    booked_currency    text     NOT NULL,
    amount_minor       bigint,
    category_id        uuid,
    category_from      text     NOT NULL,
    transfer_wallet_id uuid,
    -- The row of the same file that is the other side of the transfer.
    pair_n             integer,
    duplicate_of       uuid,
    transaction_id     uuid,
    CONSTRAINT import_rows_pkey PRIMARY KEY (owner_id, import_id, n),
    CONSTRAINT import_rows_import_fkey FOREIGN KEY (owner_id, import_id) REFERENCES imports ON DELETE CASCADE
);

-- The mappings of committed CSV files, by the heading of the file.
CREATE TABLE import_profiles (
    owner_id   uuid        NOT NULL,
    id         uuid        NOT NULL,
    heading    text[]      NOT NULL,
    -- SHA-256 of the heading.
    sha256     bytea       NOT NULL,
    mapping    jsonb       NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT import_profiles_pkey PRIMARY KEY (owner_id, id),
    CONSTRAINT import_profiles_heading_key UNIQUE (owner_id, sha256)
);

-- The wallet of each bank account. The account number is stored as an HMAC only.
CREATE TABLE import_accounts (
    owner_id    uuid  NOT NULL,
    account_mac bytea NOT NULL,
    wallet_id   uuid  NOT NULL,
    CONSTRAINT import_accounts_pkey PRIMARY KEY (owner_id, account_mac),
    CONSTRAINT import_accounts_wallet_fkey FOREIGN KEY (owner_id, wallet_id) REFERENCES wallets ON DELETE CASCADE
);
