-- +goose Up
-- Invitations of the last day, including those to e-mails without an account. They limit invitations, and searches for accounts.
CREATE TABLE invitation_tries (
    owner_id uuid        NOT NULL,
    -- NULL if the e-mail has no account.
    user_id  uuid,
    at       timestamptz NOT NULL
);
CREATE INDEX invitation_tries_owner ON invitation_tries (owner_id, at);
CREATE INDEX invitation_tries_user ON invitation_tries (user_id, at) WHERE user_id IS NOT NULL;
CREATE INDEX invitation_tries_at ON invitation_tries (at);
