-- +goose Up
CREATE TABLE attachments (
    owner_id       uuid        NOT NULL,
    id             uuid        NOT NULL,
    transaction_id uuid        NOT NULL,
    -- An attachment is visible when it is ready. One that remains uploading is deleted within an hour.
    status         text        NOT NULL CONSTRAINT attachments_status CHECK (status IN ('uploading', 'ready')),
    name           text        NOT NULL CONSTRAINT attachments_name_length CHECK (char_length(name) BETWEEN 1 AND 255),
    -- Type, size and hash are those of the whole file, and empty while it is uploading.
    media_type     text        NOT NULL DEFAULT '',
    size           bigint      NOT NULL DEFAULT 0 CONSTRAINT attachments_size CHECK (size BETWEEN 0 AND 10485760),
    sha256         bytea       NOT NULL DEFAULT '',
    created_at     timestamptz NOT NULL,
    CONSTRAINT attachments_pkey PRIMARY KEY (owner_id, id),
    -- The foreign key deletes the attachments on every path that deletes transactions.
    CONSTRAINT attachments_transaction_fkey FOREIGN KEY (transaction_id, owner_id) REFERENCES transactions ON DELETE CASCADE
);
-- A transaction has each file once.
CREATE UNIQUE INDEX attachments_content ON attachments (owner_id, transaction_id, sha256) WHERE status = 'ready';
-- For deletions by the foreign key, which also concern uploading attachments, and for the sum of an owner.
CREATE INDEX attachments_transaction ON attachments (owner_id, transaction_id);
CREATE INDEX attachments_uploading ON attachments (created_at) WHERE status = 'uploading';

-- The content in chunks of at most 1 MiB.
CREATE TABLE attachment_chunks (
    owner_id      uuid  NOT NULL,
    attachment_id uuid  NOT NULL,
    -- From 0.
    n             int   NOT NULL,
    content       bytea NOT NULL CONSTRAINT attachment_chunks_content_length CHECK (octet_length(content) BETWEEN 1 AND 1048576),
    CONSTRAINT attachment_chunks_pkey PRIMARY KEY (owner_id, attachment_id, n),
    CONSTRAINT attachment_chunks_attachment_fkey FOREIGN KEY (owner_id, attachment_id) REFERENCES attachments ON DELETE CASCADE
);
-- Most files are compressed already.
ALTER TABLE attachment_chunks ALTER COLUMN content SET STORAGE EXTERNAL;
