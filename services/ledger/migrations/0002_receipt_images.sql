-- +goose Up
-- A receipt goes with the last of its transactions.
CREATE INDEX transactions_receipt ON transactions (owner_id, receipt_id) WHERE receipt_id IS NOT NULL;

CREATE TABLE receipt_images (
    owner_id   uuid     NOT NULL,
    receipt_id uuid     NOT NULL,
    page       smallint NOT NULL CONSTRAINT receipt_images_page CHECK (page BETWEEN 1 AND 5),
    -- JPEG.
    content    bytea    NOT NULL CONSTRAINT receipt_images_content_length CHECK (octet_length(content) BETWEEN 1 AND 2097152),
    CONSTRAINT receipt_images_pkey PRIMARY KEY (owner_id, receipt_id, page),
    CONSTRAINT receipt_images_receipt_fkey FOREIGN KEY (owner_id, receipt_id) REFERENCES receipts ON DELETE CASCADE
);
-- JPEGs do not get smaller.
ALTER TABLE receipt_images ALTER COLUMN content SET STORAGE EXTERNAL;
