package imports

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

const (
	// maxFile is the maximum size of a file as it is sent, in bytes.
	maxFile = 64 << 20
	// firstRows is the maximum number of rows in the response to an upload.
	firstRows = 50
	// maxFileName is the maximum length of a file's name in characters.
	maxFileName = 255
	// cleanupTimeout limits the deletion of an import whose upload failed. The hourly sweep repeats
	// it.
	cleanupTimeout = 10 * time.Second
)

// upload is the stream of an upload.
type upload = grpc.ClientStreamingServer[
	ledgerv1.CreateImportRequest, ledgerv1.CreateImportResponse,
]

// owners is a set of users. It is safe for concurrent use.
type owners struct {
	mu   sync.Mutex
	open map[string]bool
}

// enter adds a user, and returns false if the set contains it.
func (o *owners) enter(user string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open[user] {
		return false
	}
	o.open[user] = true
	return true
}

func (o *owners) leave(user string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, user)
}

// work is the place of an upload among those that use the processor. The upload leaves it while it
// waits for its client, so that slow clients do not hold up other users.
type work struct {
	gate rpc.Gate
	exit func()
}

func (w *work) enter(ctx context.Context) error {
	exit, err := w.gate.Enter(ctx)
	w.exit = exit
	return err
}

// leave gives the place up. It does nothing without a place.
func (w *work) leave() {
	if w.exit != nil {
		w.exit()
		w.exit = nil
	}
}

// CreateImport parses a file and stages its rows while it arrives. Each page of rows is committed
// separately, so that no database transaction stays open while a client sends. The import is
// visible once its rows are resolved. Until then, it is deleted after any error.
//
// A repetition of an upload with an Idempotency-Key is staged like the first one, because only the
// whole file shows that it is the same. It is deleted then, and the response is the first one.
func (s *Imports) CreateImport(stream upload) error {
	ctx := stream.Context()
	owner := caller.ID(ctx)
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if err := s.Volume.Check(); err != nil {
		return err
	}
	form, err := s.parseForm(ctx, owner, first)
	if err != nil {
		return s.replayRejected(first, stream, err)
	}
	if !s.uploading.enter(owner.String()) {
		return errUploading
	}
	defer s.uploading.leave(owner.String())
	leave, err := s.uploads.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	work := work{gate: s.working}
	if err := work.enter(ctx); err != nil {
		return err
	}
	defer work.leave()
	imp := staging.Import{
		OwnerID: owner, ID: s.NewID(), Status: staging.Uploading, FileName: form.name,
		CreatedAt: s.Now(),
	}
	if err := s.open(ctx, imp); err != nil {
		work.leave()
		return s.replayRejected(first, stream, err)
	}
	resp, err := s.stage(ctx, &imp, form, rpc.NewFileReader(maxFile, func() ([]byte, error) {
		work.leave()
		m, err := stream.Recv()
		if failed := work.enter(ctx); failed != nil {
			return nil, failed
		}
		return m.GetFile(), err
	}))
	if err != nil || resp.GetReplayed() {
		s.discard(ctx, imp)
	}
	if err != nil {
		return uploadError(err)
	}
	return stream.SendAndClose(resp)
}

// discard deletes an import whose upload failed. The request's context may have ended, so the
// deletion has a separate timeout.
func (s *Imports) discard(ctx context.Context, e staging.Import) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := staging.DeleteImport(ctx, s.DB, e.OwnerID, e.ID); err != nil {
		s.log.WarnContext(ctx, "failed to delete an import whose upload failed", "error", err)
	}
}

// open inserts the import of an upload, unless too many are open. The invisible import exists
// before its rows, which refer to it.
func (s *Imports) open(ctx context.Context, imp staging.Import) error {
	return pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		n, err := staging.CountOpen(ctx, tx, imp.OwnerID)
		if err != nil {
			return err
		}
		if n >= maxOpen {
			return errTooManyOpen
		}
		return staging.InsertImport(ctx, tx, imp)
	})
}

// stage reads the file to its end, and makes the import visible. The hash covers the file as it was
// sent, before decompression, so that the same file is recognized again.
func (s *Imports) stage(
	ctx context.Context, imp *staging.Import, form form, file io.Reader,
) (*ledgerv1.CreateImportResponse, error) {
	seen := &counted{file: file, hash: sha256.New()}
	parsed, err := formats.Open(seen, form.options)
	if err != nil {
		return nil, err
	}
	imp.Format = parsed.Format()
	if err := s.stageRecords(ctx, imp, parsed); err != nil {
		return nil, err
	}
	// A parser need not read to the end, but the upload is complete only there.
	if _, err := io.Copy(io.Discard, seen); err != nil {
		return nil, err
	}
	imp.Size, imp.SHA256 = seen.size, seen.hash.Sum(nil)
	resp := &ledgerv1.CreateImportResponse{}
	call := uploadCall(ctx, form.request, imp.SHA256)
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := s.finish(ctx, tx, imp, form, parsed.Facts()); err != nil {
			return err
		}
		rows, err := staging.SelectVisible(
			ctx, tx, imp.OwnerID, imp.ID, staging.Filter{}, 0, firstRows)
		if err != nil {
			return err
		}
		stored, err := staging.SelectImport(ctx, tx, imp.OwnerID, imp.ID)
		if err != nil {
			return err
		}
		if stored.Total() > s.maxRows {
			return errTooManyRows
		}
		resp.Rows = staging.RowProtos(rows[:page.Fitting(rows, firstRows, staging.Row.Bytes)])
		resp.Etag = etag.Format(stored.Version)
		resp.Import, err = stored.Proto()
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// stageRecords inserts the records of a file, pageRows at a time.
func (s *Imports) stageRecords(ctx context.Context, imp *staging.Import, file *formats.File) error {
	var ids statement.IDs
	page := make([]staging.Row, 0, staging.PageRows)
	flush := func() error {
		err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
			return staging.CopyRows(ctx, tx, imp.OwnerID, imp.ID, page)
		})
		page = page[:0]
		return err
	}
	for record, err := range file.Records() {
		if err != nil {
			return err
		}
		if !file.Mapped() {
			ids.Assign(&record)
		}
		var r staging.Row
		r.Set(record, imp.CreatedAt)
		page = append(page, r)
		if len(page) == staging.PageRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// uploadError maps the errors of packages formats and scan to public errors.
func uploadError(err error) error {
	var parse *scan.ParseError
	switch {
	case errors.As(err, &parse):
		return errParseFailed.With(place(parse.Line), parse.Message)
	case errors.Is(err, scan.ErrEmpty):
		return errFileRequired
	case errors.Is(err, formats.ErrUnknownFormat):
		return errFormatUnknown.WithMessage(err.Error())
	case errors.Is(err, formats.ErrTooManyRows):
		return errTooManyRows
	case errors.Is(err, scan.ErrTooLarge):
		return apierr.PayloadTooLarge
	}
	return err
}

// place names the place of a defect. A workbook and a zip file have no lines.
func place(line int) string {
	if line == 0 {
		return "file"
	}
	return fmt.Sprintf("line %d", line)
}

// counted is a reader that computes the size and the hash of what it reads.
type counted struct {
	file io.Reader
	hash hash.Hash
	size int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	c.size += int64(n)
	_, _ = c.hash.Write(p[:n])
	return n, err
}
