-- +goose Up
-- The budget's name when the user was invited or left. Users who are not accepted members receive this one instead of the
-- current name. Rows of earlier releases have none.
ALTER TABLE members ADD COLUMN known_name text;
