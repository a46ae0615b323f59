-- +goose Up
-- The authenticator app (TOTP) of a user.
CREATE TABLE user_factors (
    user_id        uuid        NOT NULL CONSTRAINT user_factors_pkey PRIMARY KEY
        CONSTRAINT user_factors_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    -- Sealed with the service key. NULL until the first confirmation.
    secret_sealed  bytea,
    enabled_at     timestamptz,
    -- The last accepted step of 30 seconds. Each one is accepted once.
    last_step      bigint      NOT NULL DEFAULT 0,
    -- A new secret that awaits its confirmation.
    pending_sealed bytea,
    CONSTRAINT user_factors_enabled_at CHECK ((secret_sealed IS NULL) = (enabled_at IS NULL))
);

CREATE TABLE recovery_codes (
    user_id uuid        NOT NULL CONSTRAINT recovery_codes_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    -- SHA-256 of the user and the code, which has 50 bits.
    hash    bytea       NOT NULL CONSTRAINT recovery_codes_hash_length CHECK (octet_length(hash) = 32),
    used_at timestamptz,
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, hash)
);

-- Steps between the requests of a sign-in. Each one works once.
CREATE TABLE ceremonies (
    -- SHA-256 of the token, which has 256 bits.
    hash          bytea       NOT NULL CONSTRAINT ceremonies_pkey PRIMARY KEY
        CONSTRAINT ceremonies_hash_length CHECK (octet_length(hash) = 32),
    kind          text        NOT NULL CONSTRAINT ceremonies_kind_length CHECK (char_length(kind) BETWEEN 1 AND 50),
    user_id       uuid        CONSTRAINT ceremonies_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    -- SHA-256 of the hash of the password that makes the ceremony valid.
    password_mark bytea,
    expires_at    timestamptz NOT NULL,
    used_at       timestamptz
);
CREATE INDEX ceremonies_expires_at ON ceremonies (expires_at);
CREATE INDEX ceremonies_user ON ceremonies (user_id);

-- Whether sign-ins have a second step. It is stored here so that a sign-in reads it with the row of the user.
ALTER TABLE users ADD COLUMN second_factor boolean NOT NULL DEFAULT false;
