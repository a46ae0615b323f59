-- +goose Up
-- The W3C trace context of the request that caused the event, if it is sampled.
ALTER TABLE outbox ADD COLUMN traceparent text;
