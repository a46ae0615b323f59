-- +goose Up
-- The token that replaced this one, sealed under the service key and this token, for the other tabs of a browser. Only a token that was
-- sent in the session cookie has it.
ALTER TABLE refresh_tokens ADD COLUMN sealed_successor bytea;
