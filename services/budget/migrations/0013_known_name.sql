-- +goose Up
-- The budget's name when the user was invited or left. All users but accepted members receive it instead of the
-- current name. Rows of earlier releases have none.
ALTER TABLE members ADD COLUMN known_name text;
