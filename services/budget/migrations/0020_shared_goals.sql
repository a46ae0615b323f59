-- +goose Up
-- The ids of goals are unique, so that a member finds a goal without its owner.
CREATE UNIQUE INDEX goals_id_key ON goals (id);

-- The members of goals, with the columns and rules of members.
CREATE TABLE goal_members (
    goal_id       uuid        NOT NULL CONSTRAINT goal_members_goal_fkey REFERENCES goals (id) ON DELETE CASCADE,
    user_id       uuid        NOT NULL,
    role          text        NOT NULL CONSTRAINT goal_members_role_known CHECK (role IN ('viewer', 'editor')),
    share_bp      integer     CONSTRAINT goal_members_share_range CHECK (share_bp BETWEEN 1 AND 10000),
    status        text        NOT NULL CONSTRAINT goal_members_status_known CHECK (status IN ('pending', 'accepted', 'rejected')),
    invited_at    timestamptz NOT NULL,
    responded_at  timestamptz,
    known_name    text        NOT NULL,
    invitation_id uuid,
    email         text        CONSTRAINT goal_members_email_length CHECK (char_length(email) BETWEEN 3 AND 254),
    expires_at    timestamptz,
    resends       smallint    NOT NULL DEFAULT 0,
    resends_since timestamptz,
    CONSTRAINT goal_members_pkey PRIMARY KEY (goal_id, user_id),
    CONSTRAINT goal_members_answered_at CHECK ((status = 'pending') = (responded_at IS NULL)),
    CONSTRAINT goal_members_mailed CHECK (num_nulls(invitation_id, email, expires_at) IN (0, 3))
);
CREATE INDEX goal_members_user ON goal_members (user_id, goal_id);
CREATE INDEX goal_members_goal_invited ON goal_members (goal_id, invited_at, user_id);
CREATE INDEX goal_members_pending ON goal_members (user_id, invited_at, goal_id) WHERE status = 'pending';
CREATE UNIQUE INDEX goal_members_email_key ON goal_members (email, goal_id) WHERE invitation_id IS NOT NULL AND status = 'pending';
CREATE INDEX goal_members_expires_at ON goal_members (expires_at) WHERE invitation_id IS NOT NULL AND status = 'pending';

-- The user who assigned the money: the owner of the goal, or a member.
ALTER TABLE assignments ADD COLUMN user_id uuid;
UPDATE assignments SET user_id = owner_id;
ALTER TABLE goal_wallets ADD COLUMN user_id uuid;
UPDATE goal_wallets SET user_id = owner_id;

-- A trigger, so that rows of the previous release, which knows no members, have a user too.
-- +goose StatementBegin
CREATE FUNCTION set_assigning_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.user_id := coalesce(NEW.user_id, NEW.owner_id);
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER assignments_user BEFORE INSERT ON assignments FOR EACH ROW EXECUTE FUNCTION set_assigning_user();
CREATE TRIGGER goal_wallets_user BEFORE INSERT ON goal_wallets FOR EACH ROW EXECUTE FUNCTION set_assigning_user();

ALTER TABLE assignments ALTER COLUMN user_id SET NOT NULL;
ALTER TABLE goal_wallets
    DROP CONSTRAINT goal_wallets_pkey,
    ADD CONSTRAINT goal_wallets_pkey PRIMARY KEY (owner_id, goal_id, user_id, wallet_id);
-- Finds the rows of a user in own and shared goals.
CREATE INDEX assignments_user ON assignments (user_id);
CREATE INDEX goal_wallets_user ON goal_wallets (user_id);
