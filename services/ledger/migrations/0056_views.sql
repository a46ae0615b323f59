-- +goose Up
-- Queries of lists and reports with names.
CREATE TABLE views (
    owner_id   uuid        NOT NULL,
    id         uuid        NOT NULL,
    name       text        NOT NULL CONSTRAINT views_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    kind       text        NOT NULL CONSTRAINT views_kind CHECK (kind IN ('transactions', 'report')),
    -- A query string of the API.
    query      text        NOT NULL CONSTRAINT views_query_length CHECK (char_length(query) <= 2000),
    version    bigint      NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT views_pkey PRIMARY KEY (owner_id, id)
);
