-- +goose Up
CREATE TABLE results (
    user_id     uuid        NOT NULL,
    file_sha256 bytea       NOT NULL CONSTRAINT results_file_sha256_length CHECK (octet_length(file_sha256) = 32),
    -- A better recogniser reads a file anew.
    recogniser  integer     NOT NULL,
    -- coffer.ocr.v1.Receipt, serialized.
    receipt     bytea       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT results_pkey PRIMARY KEY (user_id, file_sha256, recogniser)
);
