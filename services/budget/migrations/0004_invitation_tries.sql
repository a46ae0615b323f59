-- +goose Up
-- Invitations of the last day, sent or to an e-mail without an account, so that nobody can send without end, or find out who has
-- an account.
CREATE TABLE invitation_tries (
    owner_id uuid        NOT NULL,
    -- Absent when the e-mail had no account.
    user_id  uuid,
    at       timestamptz NOT NULL
);
CREATE INDEX invitation_tries_owner ON invitation_tries (owner_id, at);
CREATE INDEX invitation_tries_user ON invitation_tries (user_id, at) WHERE user_id IS NOT NULL;
CREATE INDEX invitation_tries_at ON invitation_tries (at);
