-- +goose Up
-- Personal access tokens of users. The deletion of one stores its id as an ended session, because access tokens that were issued for it
-- have this id as their session.
CREATE TABLE access_tokens (
    id           uuid        NOT NULL CONSTRAINT access_tokens_pkey PRIMARY KEY,
    user_id      uuid        NOT NULL CONSTRAINT access_tokens_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    name         text        NOT NULL CONSTRAINT access_tokens_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    -- SHA-256; a token has 256 random bits, so that a slow hash would add nothing.
    hash         bytea       NOT NULL CONSTRAINT access_tokens_hash_length CHECK (octet_length(hash) = 32),
    scopes       text[]      NOT NULL CONSTRAINT access_tokens_scopes_number CHECK (cardinality(scopes) BETWEEN 1 AND 20),
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    -- The minute of the last use, and the address of one request in it.
    last_used_at timestamptz,
    last_address text        NOT NULL DEFAULT '' CONSTRAINT access_tokens_last_address_length CHECK (char_length(last_address) <= 64),
    CONSTRAINT access_tokens_hash_key UNIQUE (hash)
);
CREATE INDEX access_tokens_user ON access_tokens (user_id, id);
CREATE INDEX access_tokens_expires_at ON access_tokens (expires_at);

-- Of entries about a personal access token.
ALTER TABLE audit ADD COLUMN token_name text CONSTRAINT audit_token_name_length CHECK (char_length(token_name) <= 100);
