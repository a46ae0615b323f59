package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/minio/minio-go/v7"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// putTime limits the write of an object with its attempts.
const putTime = time.Minute

var (
	// errUnavailable is the public error for a file that is in the store while the store fails.
	errUnavailable = apierr.Unavailable.After(10 * time.Second).
			WithMessage("The store of files is unavailable; try again later")
	// errNoStore is logged if a row names an object and FILES_URL is not set.
	errNoStore = errors.New("the file is in an object store, and FILES_URL is not set")
	// errNotWritable is logged if objects must be removed and FILES_URL is not set or read-only.
	errNotWritable = errors.New("the files are in an object store that cannot be written")
	// errMissing and errDiffers are not public: the content of a file is lost.
	errMissing = errors.New("the object does not exist")
	errDiffers = errors.New("the object has another content")
)

// Object is the content of a file in the store.
type Object struct {
	OwnerID uuid.UUID
	ID      uuid.UUID
	Size    int64
	SHA256  []byte
}

// key is the name of the object in the bucket.
func (o Object) key() string { return o.OwnerID.String() + "/" + o.ID.String() }

// Open returns the content of an object. The last bytes are withheld until the hash of the whole
// content is right, so a reader never takes a wrong or truncated content for the file. The content
// must be closed. Open and Read return apierr.Unavailable if the store fails, or makes no progress
// for some seconds.
func (s *Store) Open(ctx context.Context, o Object) (io.ReadCloser, error) {
	if s == nil {
		return nil, fmt.Errorf("object %s: %w", o.key(), errNoStore)
	}
	reading, cancel := context.WithCancel(ctx)
	c := &content{
		store: s, object: o, left: o.Size, hash: sha256.New(), request: ctx, cancel: cancel,
		timer: time.AfterFunc(s.wait, cancel),
	}
	body, _, _, err := s.client.GetObject(reading, s.bucket, o.key(), minio.GetObjectOptions{})
	c.timer.Stop()
	if err != nil {
		cancel()
		return nil, s.failed(ctx, "reading", o, err)
	}
	c.body = body
	return c, nil
}

// Read returns the whole content of an object.
func (s *Store) Read(ctx context.Context, o Object) ([]byte, error) {
	r, err := s.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

// put writes an object and reads it back. If the content differs, it removes the object.
func (s *Store) put(ctx context.Context, o Object, file []byte) error {
	writing, cancel := context.WithTimeout(ctx, putTime)
	defer cancel()
	_, err := s.client.Client.PutObject(writing, s.bucket, o.key(), bytes.NewReader(file), o.Size,
		minio.PutObjectOptions{
			ContentType: "application/octet-stream", SendContentMd5: true, DisableMultipart: true,
		})
	if err != nil {
		return s.failed(ctx, "writing", o, err)
	}
	_, err = s.Read(writing, o)
	if errors.Is(err, errDiffers) {
		return errors.Join(s.failed(ctx, "reading back", o, err), s.remove(ctx, o))
	}
	return err
}

// remove removes an object. It succeeds if the object does not exist.
func (s *Store) remove(ctx context.Context, o Object) error {
	removing, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	err := s.client.RemoveObject(removing, s.bucket, o.key(), minio.RemoveObjectOptions{})
	if err != nil {
		return s.failed(ctx, "removing", o, err)
	}
	return nil
}

// failed returns errMissing for an object that does not exist, and the reason of a request that has
// ended. It logs any other error of the store, whose text is not public, and returns
// apierr.Unavailable.
func (s *Store) failed(ctx context.Context, action string, o Object, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s object %s: %w", action, o.key(), ctx.Err())
	}
	var response minio.ErrorResponse
	if errors.As(err, &response) && response.StatusCode == http.StatusNotFound &&
		response.Code == minio.NoSuchKey {
		return fmt.Errorf("object %s: %w", o.key(), errMissing)
	}
	s.log.WarnContext(ctx, "failed to reach the store of files",
		"action", action, "object", o.key(), "error", err)
	return errUnavailable
}

// content reads an object and verifies its hash.
type content struct {
	store  *Store
	object Object
	body   io.ReadCloser
	left   int64
	hash   hash.Hash
	// request is the context of Open, whose end is no failure of the store.
	request context.Context //nolint:containedctx // Read has no context.
	cancel  context.CancelFunc
	// timer cancels a read that makes no progress.
	timer *time.Timer
}

// Read implements io.Reader. A slow caller does not count as a store without progress.
func (c *content) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	c.timer.Reset(c.store.wait)
	n, err := c.body.Read(p[:min(int64(len(p)), c.left)])
	c.timer.Stop()
	c.left -= int64(n)
	c.hash.Write(p[:n])
	switch {
	case c.left == 0 && !bytes.Equal(c.hash.Sum(nil), c.object.SHA256):
		return 0, fmt.Errorf("object %s: %w", c.object.key(), errDiffers)
	case c.left == 0:
		return n, nil
	case err != nil:
		return n, c.store.failed(c.request, "reading", c.object, err)
	}
	return n, nil
}

// Close implements io.Closer.
func (c *content) Close() error {
	c.timer.Stop()
	c.cancel()
	if err := c.body.Close(); err != nil {
		return fmt.Errorf("closing object %s: %w", c.object.key(), err)
	}
	return nil
}
