-- +goose Up
-- What a user's ETag is made of; counts the changes of name and e-mail.
ALTER TABLE users ADD COLUMN version bigint NOT NULL DEFAULT 1;
