-- +goose Up
-- Files in an object store (ADR 127). The key of an object is the owner's id and the object's id, so a row can only name an object of
-- its owner. NULL: the content is in PostgreSQL.
ALTER TABLE attachments ADD COLUMN object uuid;

ALTER TABLE receipt_images ADD COLUMN object uuid;
-- Size and hash are those of the object.
ALTER TABLE receipt_images ADD COLUMN size bigint;
ALTER TABLE receipt_images ADD COLUMN sha256 bytea;
ALTER TABLE receipt_images ALTER COLUMN content DROP NOT NULL;
ALTER TABLE receipt_images ADD CONSTRAINT receipt_images_stored CHECK (
    content IS NOT NULL AND object IS NULL OR content IS NULL AND object IS NOT NULL AND size IS NOT NULL AND sha256 IS NOT NULL
) NOT VALID;

-- The objects that may be in the store and that no row names: they are being written, or their file was deleted. Each object in the
-- store is named by one row or is here.
CREATE TABLE unreferenced_objects (
    owner_id   uuid        NOT NULL,
    id         uuid        NOT NULL,
    size       bigint      NOT NULL,
    -- The object is being removed, and no row may name it any more.
    removing   boolean     NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT unreferenced_objects_pkey PRIMARY KEY (owner_id, id)
);
CREATE INDEX unreferenced_objects_created_at ON unreferenced_objects (created_at);

-- Every path that deletes a file adds its object to unreferenced_objects: also foreign keys, and replicas of the previous release.
-- +goose StatementBegin
CREATE FUNCTION release_object() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO unreferenced_objects (owner_id, id, size) VALUES (OLD.owner_id, OLD.object, OLD.size) ON CONFLICT DO NOTHING;
	RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER attachments_release_deleted AFTER DELETE ON attachments
	FOR EACH ROW WHEN (OLD.object IS NOT NULL) EXECUTE FUNCTION release_object();
CREATE TRIGGER attachments_release_changed AFTER UPDATE OF object ON attachments
	FOR EACH ROW WHEN (OLD.object IS NOT NULL AND OLD.object IS DISTINCT FROM NEW.object) EXECUTE FUNCTION release_object();
CREATE TRIGGER receipt_images_release_deleted AFTER DELETE ON receipt_images
	FOR EACH ROW WHEN (OLD.object IS NOT NULL) EXECUTE FUNCTION release_object();
CREATE TRIGGER receipt_images_release_changed AFTER UPDATE OF object ON receipt_images
	FOR EACH ROW WHEN (OLD.object IS NOT NULL AND OLD.object IS DISTINCT FROM NEW.object) EXECUTE FUNCTION release_object();
