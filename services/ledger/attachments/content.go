package attachments

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/files"
)

// open returns the content of a ready attachment. It fails if the content is in the store and the
// store is unavailable.
func (s *Attachments) open(ctx context.Context, a attachment) (io.ReadCloser, error) {
	if a.Object == nil {
		return &chunks{ctx: ctx, attachments: s, file: a}, nil
	}
	return s.Files.Open(ctx, files.Object{
		OwnerID: a.OwnerID, ID: *a.Object, Size: a.Size, SHA256: a.SHA256,
	})
}

// chunks reads an attachment from PostgreSQL. Each chunk is a separate query, so that a slow client
// holds no connection. If the attachment is moved into the store meanwhile, chunks continues there.
type chunks struct {
	ctx         context.Context //nolint:containedctx // Read has no context.
	attachments *Attachments
	file        attachment
	n           int
	sent        int64
	chunk       []byte
	moved       io.ReadCloser
}

// Read implements io.Reader.
func (c *chunks) Read(p []byte) (int, error) {
	if c.moved != nil {
		return c.moved.Read(p)
	}
	if len(c.chunk) == 0 {
		if c.sent == c.file.Size {
			return 0, io.EOF
		}
		chunk, err := selectChunk(c.ctx, c.attachments.DB, c.file, c.n)
		if errors.Is(err, pgx.ErrNoRows) {
			if err := c.follow(); err != nil {
				return 0, err
			}
			return c.moved.Read(p)
		}
		if err != nil {
			return 0, err
		}
		c.chunk = chunk
		c.n++
		c.sent += int64(len(chunk))
	}
	n := copy(p, c.chunk)
	c.chunk = c.chunk[n:]
	return n, nil
}

// follow continues in the store, after the bytes that were read. It returns errAttachmentNotFound
// if the attachment was deleted.
func (c *chunks) follow() error {
	a, err := ready(c.ctx, c.attachments.DB, c.file.ID)
	if err != nil {
		return err
	}
	if a.Object == nil {
		return fmt.Errorf("attachment %s has no chunk %d", a.ID, c.n)
	}
	if c.moved, err = c.attachments.open(c.ctx, a); err != nil {
		c.moved = nil
		return err
	}
	if _, err := io.CopyN(io.Discard, c.moved, c.sent); err != nil {
		return fmt.Errorf("finding byte %d of attachment %s: %w", c.sent, a.ID, err)
	}
	return nil
}

// Close implements io.Closer.
func (c *chunks) Close() error {
	if c.moved != nil {
		return c.moved.Close()
	}
	return nil
}

var _ io.ReadCloser = (*chunks)(nil)
