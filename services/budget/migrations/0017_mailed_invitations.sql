-- +goose Up
-- Invitations that were sent by mail are pending members with an e-mail. Until the e-mail has an account, user_id is the id of the invitation.
-- The previous release counts their shares too, because it takes them for pending members.
ALTER TABLE members
    ADD COLUMN invitation_id uuid,
    ADD COLUMN email         text CONSTRAINT members_email_length CHECK (char_length(email) BETWEEN 3 AND 254),
    -- The invitation ends then, unless it was answered.
    ADD COLUMN expires_at    timestamptz,
    -- The mails that were sent again since a time, for the limit per day.
    ADD COLUMN resends       smallint NOT NULL DEFAULT 0,
    ADD COLUMN resends_since timestamptz,
    ADD CONSTRAINT members_mailed CHECK (num_nulls(invitation_id, email, expires_at) IN (0, 3));
-- Finds the invitations of an e-mail. A budget has at most one for an e-mail.
CREATE UNIQUE INDEX members_email_key ON members (email, budget_id) WHERE invitation_id IS NOT NULL AND status = 'pending';
CREATE INDEX members_expires_at ON members (expires_at) WHERE invitation_id IS NOT NULL AND status = 'pending';
