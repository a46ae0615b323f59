-- +goose Up
-- The W3C trace context of the request that the event came from, if it is sampled.
ALTER TABLE outbox ADD COLUMN traceparent text;
