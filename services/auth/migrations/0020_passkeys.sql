-- +goose Up
CREATE TABLE passkeys (
    id            uuid        NOT NULL CONSTRAINT passkeys_pkey PRIMARY KEY,
    user_id       uuid        NOT NULL CONSTRAINT passkeys_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    name          text        NOT NULL CONSTRAINT passkeys_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    credential_id bytea       NOT NULL CONSTRAINT passkeys_credential_id_length CHECK (octet_length(credential_id) BETWEEN 1 AND 1023),
    -- The public key, the counter and the flags, as JSON of the library.
    credential    bytea       NOT NULL,
    created_at    timestamptz NOT NULL,
    last_used_at  timestamptz,
    -- The counter did not increase: there may be a copy.
    disabled_at   timestamptz,
    CONSTRAINT passkeys_credential_key UNIQUE (credential_id)
);
CREATE INDEX passkeys_user ON passkeys (user_id, id);

-- The state of a ceremony of a passkey, as JSON of the library.
ALTER TABLE ceremonies ADD COLUMN state bytea;
