-- +goose Up
-- When the user last proved the identity in the session. NULL in sessions that earlier releases have started: the time of their creation.
ALTER TABLE sessions ADD COLUMN authenticated_at timestamptz;
