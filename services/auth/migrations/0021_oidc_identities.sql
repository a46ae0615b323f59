-- +goose Up
-- NULL for users who sign in with an identity provider only. The CHECK users_password_hash_argon2id permits NULL.
ALTER TABLE users ALTER COLUMN password_hash DROP NOT NULL;

-- Accounts at identity providers that are linked to users.
CREATE TABLE oidc_identities (
    id           uuid        NOT NULL CONSTRAINT oidc_identities_pkey PRIMARY KEY,
    user_id      uuid        NOT NULL CONSTRAINT oidc_identities_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    issuer       text        NOT NULL CONSTRAINT oidc_identities_issuer_length CHECK (char_length(issuer) BETWEEN 1 AND 2000),
    subject      text        NOT NULL CONSTRAINT oidc_identities_subject_length CHECK (char_length(subject) BETWEEN 1 AND 255),
    -- As the provider has last reported it, or empty. Accounts are found by issuer and subject only.
    email        text        NOT NULL CONSTRAINT oidc_identities_email_length CHECK (char_length(email) <= 254),
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz,
    CONSTRAINT oidc_identities_subject_key UNIQUE (issuer, subject)
);
CREATE INDEX oidc_identities_user ON oidc_identities (user_id, id);

-- The result of a sign-in at an identity provider, sealed with the service key. NULL before the result, and after its use.
ALTER TABLE ceremonies ADD COLUMN result_sealed bytea;
