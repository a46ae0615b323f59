-- +goose Up
-- The invitation of a link to register with. All its links end when the owner of the budget withdraws it.
ALTER TABLE mail_links ADD COLUMN invitation_id uuid;
CREATE INDEX mail_links_invitation_id ON mail_links (invitation_id) WHERE invitation_id IS NOT NULL;
