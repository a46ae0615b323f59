-- +goose Up
CREATE TABLE users (
    id            uuid        NOT NULL CONSTRAINT users_pkey PRIMARY KEY,
    name          text        NOT NULL CONSTRAINT users_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    -- Lower case.
    email         text        NOT NULL CONSTRAINT users_email_length CHECK (char_length(email) BETWEEN 3 AND 254),
    -- argon2id, as a PHC string.
    password_hash text        NOT NULL CONSTRAINT users_password_hash_argon2id CHECK (password_hash LIKE '$argon2id$%'),
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    CONSTRAINT users_email_key UNIQUE (email)
);

-- One sign-in of a user on one device: the family of the refresh tokens that follow from it.
CREATE TABLE sessions (
    id           uuid        NOT NULL CONSTRAINT sessions_pkey PRIMARY KEY,
    user_id      uuid        NOT NULL CONSTRAINT sessions_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL,
    -- That of its newest refresh token.
    expires_at   timestamptz NOT NULL,
    revoked_at   timestamptz,
    user_agent   text        NOT NULL CONSTRAINT sessions_user_agent_length CHECK (char_length(user_agent) <= 255),
    ip_address   text        NOT NULL CONSTRAINT sessions_ip_address_length CHECK (char_length(ip_address) <= 64),
    CONSTRAINT sessions_use_after_creation CHECK (last_used_at >= created_at)
);
-- A user's live sessions, newest first.
CREATE INDEX sessions_user ON sessions (user_id, id) WHERE revoked_at IS NULL;
-- What every service asks for every few seconds.
CREATE INDEX sessions_revoked_at ON sessions (revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX sessions_expires_at ON sessions (expires_at);

CREATE TABLE refresh_tokens (
    -- SHA-256; a token has 256 random bits, so that a slow hash would add nothing.
    hash       bytea       NOT NULL CONSTRAINT refresh_tokens_pkey PRIMARY KEY
        CONSTRAINT refresh_tokens_hash_length CHECK (octet_length(hash) = 32),
    session_id uuid        NOT NULL CONSTRAINT refresh_tokens_session_fkey REFERENCES sessions (id) ON DELETE CASCADE,
    expires_at timestamptz NOT NULL,
    -- A used one is kept until it expires, to know it again.
    used_at    timestamptz
);
CREATE INDEX refresh_tokens_session ON refresh_tokens (session_id);
CREATE INDEX refresh_tokens_expires_at ON refresh_tokens (expires_at);

CREATE TABLE signing_keys (
    kid                text        NOT NULL CONSTRAINT signing_keys_pkey PRIMARY KEY,
    public_key         bytea       NOT NULL CONSTRAINT signing_keys_public_key_length CHECK (octet_length(public_key) = 32),
    -- AES-GCM under a key that only the service has.
    sealed_private_key bytea       NOT NULL,
    -- It signs from then on, until another one does.
    active_from        timestamptz NOT NULL
);

-- Failed sign-ins of one account or from one address, within a window.
CREATE TABLE login_failures (
    -- SHA-256: e-mails that have no account are nobody's to keep.
    subject  bytea       NOT NULL CONSTRAINT login_failures_pkey PRIMARY KEY
        CONSTRAINT login_failures_subject_length CHECK (octet_length(subject) = 32),
    failures integer     NOT NULL CONSTRAINT login_failures_positive CHECK (failures > 0),
    ends_at  timestamptz NOT NULL
);
CREATE INDEX login_failures_ends_at ON login_failures (ends_at);

CREATE TABLE idempotency_keys (
    scope       text        NOT NULL,
    key_hash    bytea       NOT NULL,
    request_mac bytea       NOT NULL,
    response    bytea,
    created_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (scope, key_hash)
);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

CREATE TABLE outbox (
    seq        bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_pkey PRIMARY KEY,
    id         uuid        NOT NULL,
    user_id    uuid        NOT NULL,
    subject    text        NOT NULL,
    data       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
