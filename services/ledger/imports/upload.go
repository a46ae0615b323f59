package imports

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

const (
	// maxFile is the maximum size of a file as it is sent, in bytes.
	maxFile = 64 << 20
	// firstRows is the number of rows in the response to an upload.
	firstRows = 50
	// maxFileName is the maximum length of a file's name in characters.
	maxFileName = 255
	// cleanupTimeout limits the deletion of an import whose upload failed. The hourly sweep repeats it.
	cleanupTimeout = 10 * time.Second
)

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

// leave removes a user.
func (o *owners) leave(user string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, user)
}

// form is the validated form of an upload.
type form struct {
	options formats.Options
	wallet  *uuid.UUID
	reject  bool
	name    string
}

// CreateImport parses a file and stages its rows while it arrives. Each page of rows is committed by itself, so that no database transaction
// stays open while a client sends. The import is visible once its rows are resolved; until then, it is deleted after any error.
func (s *Imports) CreateImport(stream grpc.ClientStreamingServer[ledgerv1.CreateImportRequest, ledgerv1.CreateImportResponse]) error {
	ctx := stream.Context()
	owner := caller.Owner(ctx)
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	f, err := s.parseForm(ctx, owner, first)
	if err != nil {
		return err
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
	e := entry{OwnerID: owner, ID: s.NewID(), Status: uploading, FileName: f.name, CreatedAt: s.Now()}
	if err := s.open(ctx, e); err != nil {
		return err
	}
	resp, err := s.stage(ctx, &e, f, rpc.NewFileReader(maxFile, func() ([]byte, error) {
		m, err := stream.Recv()
		return m.GetFile(), err
	}))
	if err != nil {
		s.discard(ctx, e)
		return uploadError(err)
	}
	return stream.SendAndClose(resp)
}

// discard deletes an import whose upload failed.
func (s *Imports) discard(ctx context.Context, e entry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := deleteImport(ctx, s.DB, e.OwnerID, e.ID); err != nil {
		s.log.WarnContext(ctx, "failed to delete an import whose upload failed", "error", err)
	}
}

// parseForm validates the fields of the form.
func (s *Imports) parseForm(ctx context.Context, owner uuid.UUID, req *ledgerv1.CreateImportRequest) (form, error) {
	var p apierr.Problems
	f := form{options: formats.Options{Format: req.GetFormat(), Locale: req.GetLocale()}, name: baseName(req.GetHeader().GetFileName())}
	known := []string{formats.CSV, formats.OFX, formats.QIF, formats.CAMT, formats.MT940, formats.Firefly, formats.YNAB, formats.Coffer}
	if f.options.Format != "" && !slices.Contains(known, f.options.Format) {
		p.Field(&apierr.Field{Name: "format", Message: "must be " + strings.Join(known, ", ")})
	}
	switch req.GetOnDuplicate() {
	case "", "keep":
	case "reject":
		f.reject = true
	default:
		p.Field(&apierr.Field{Name: "onDuplicate", Message: "must be keep or reject"})
	}
	if len(f.options.Locale) > 35 {
		p.Field(&apierr.Field{Name: "locale", Message: "must be at most 35 characters"})
	}
	if req.GetWalletId() != "" {
		f.wallet = request.ParseReference(&p, "walletId", req.GetWalletId(), request.ErrInvalidWalletID)
	}
	return f, request.CheckOwned(ctx, s.DB, p, owner, request.References{Wallet: f.wallet})
}

// baseName returns the name of a file without folders and control characters.
func baseName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, "\ufffd"), `\`, "/")))
	runes := []rune(name)
	return string(runes[:min(len(runes), maxFileName)])
}

// open inserts the import of an upload, unless too many are open.
func (s *Imports) open(ctx context.Context, e entry) error {
	return pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		n, err := countOpen(ctx, tx, e.OwnerID)
		if err != nil {
			return err
		}
		if n >= maxOpen {
			return errTooManyOpen
		}
		return insertImport(ctx, tx, e)
	})
}

// stage reads the file to its end, and makes the import visible.
func (s *Imports) stage(ctx context.Context, e *entry, f form, file io.Reader) (*ledgerv1.CreateImportResponse, error) {
	seen := &counted{file: file, hash: sha256.New()}
	parsed, err := formats.Open(seen, f.options)
	if err != nil {
		return nil, err
	}
	e.Format = parsed.Format()
	if err := s.stageRecords(ctx, e, parsed); err != nil {
		return nil, err
	}
	// A parser need not read to the end, but the upload is complete only there.
	if _, err := io.Copy(io.Discard, seen); err != nil {
		return nil, err
	}
	e.Size, e.SHA256 = seen.size, seen.hash.Sum(nil)
	resp := &ledgerv1.CreateImportResponse{}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := s.finish(ctx, tx, e, f, parsed.Facts()); err != nil {
			return err
		}
		rows, err := selectVisible(ctx, tx, e.OwnerID, e.ID, nil, 0, firstRows)
		if err != nil {
			return err
		}
		stored, err := selectImport(ctx, tx, e.OwnerID, e.ID)
		if err != nil {
			return err
		}
		resp.Rows = rowProtos(rows)
		resp.Import, err = stored.proto()
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// stageRecords inserts the records of a file, pageRows at a time.
func (s *Imports) stageRecords(ctx context.Context, e *entry, file *formats.File) error {
	c := resolver{}
	page := make([]row, 0, pageRows)
	flush := func() error {
		err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error { return copyRows(ctx, tx, e.OwnerID, e.ID, page) })
		page = page[:0]
		return err
	}
	for record, err := range file.Records() {
		if err != nil {
			return err
		}
		if !file.Mapped() {
			c.assign(&record)
		}
		var r row
		r.set(record)
		page = append(page, r)
		if len(page) == pageRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// finish describes the import of a staged file and resolves its rows. e is visible afterwards.
func (s *Imports) finish(ctx context.Context, tx pgx.Tx, e *entry, f form, facts formats.Facts) error {
	details := &ledgerv1.Import{Format: e.Format, Defaults: &ledgerv1.ImportDefaults{}, Warnings: facts.Warnings}
	earlier, err := selectCommitted(ctx, tx, e.OwnerID, e.SHA256)
	switch {
	case err == nil && f.reject:
		return errDuplicate
	case err == nil:
		details.Warnings = append(details.Warnings, "DUPLICATE_OF:"+earlier.String())
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	if facts.Mapping != nil {
		if details.Mapping, err = s.mappingOf(ctx, tx, e, facts.Mapping); err != nil {
			return err
		}
	}
	if f.wallet != nil {
		details.Defaults.WalletId = f.wallet.String()
	}
	if details.Accounts, err = s.accountsOf(ctx, tx, e, f, facts.Accounts); err != nil {
		return err
	}
	if err := resolveAll(ctx, tx, e.OwnerID, e.ID, details, true); err != nil {
		return err
	}
	if err := e.describe(details); err != nil {
		return err
	}
	e.Status, e.UpdatedAt = preview, s.Now()
	return updateImport(ctx, tx, *e)
}

// mappingOf returns the mapping that was saved for the heading of a CSV file, or otherwise the proposed one.
func (s *Imports) mappingOf(ctx context.Context, tx pgx.Tx, e *entry, proposed *formats.Mapping) (*ledgerv1.ImportMapping, error) {
	heading, err := headingOf(ctx, tx, e, proposed)
	if err != nil || heading == nil {
		return fromMapping(proposed), err
	}
	p, err := selectProfile(ctx, tx, e.OwnerID, heading)
	if errors.Is(err, pgx.ErrNoRows) {
		return fromMapping(proposed), nil
	}
	if err != nil {
		return nil, err
	}
	saved := *proposed
	if err := json.Unmarshal(p.Mapping, &saved); err != nil {
		return nil, fmt.Errorf("decoding import profile %s: %w", p.ID, err)
	}
	return fromMapping(&saved), nil
}

// headingOf returns the cells of the heading, or nil if the file has none.
func headingOf(ctx context.Context, q pg.Querier, e *entry, m *formats.Mapping) ([]string, error) {
	if m.Format != formats.CSV || !m.Header {
		return nil, nil
	}
	rows, err := selectRowsAfter(ctx, q, e.OwnerID, e.ID, int32(m.SkipRows), 1)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0].Cells, nil
}

// accountsOf returns the accounts of a file with their wallets: the one of the form, or the one of an earlier import of the account. resolver
// adds the wallets of the same name.
func (s *Imports) accountsOf(ctx context.Context, tx pgx.Tx, e *entry, f form, found []formats.Account) ([]*ledgerv1.ImportAccount, error) {
	macs := make([][]byte, len(found))
	for i, a := range found {
		macs[i] = s.mac(a.Key)
	}
	known, err := selectAccountWallets(ctx, tx, e.OwnerID, macs)
	if err != nil {
		return nil, err
	}
	o, err := selectOwned(ctx, tx, e.OwnerID)
	if err != nil {
		return nil, err
	}
	c := newResolver(&ledgerv1.Import{Format: e.Format}, o, nil)
	var accounts []*ledgerv1.ImportAccount
	for i, a := range found {
		account := &ledgerv1.ImportAccount{Key: a.Key, Name: a.Name, Last4: a.Last4, Currency: a.Currency}
		if account.Name == "" {
			account.Name = a.Key
		}
		account.OpeningBalance, account.ClosingBalance = balance(a.Opening), balance(a.Closing)
		if !a.ClosingDate.IsZero() {
			account.ClosingDate = day(&a.ClosingDate)
		}
		wallet, remembered := known[string(macs[i])]
		switch {
		case f.wallet != nil:
			account.WalletId = f.wallet.String()
		case remembered:
			account.WalletId = wallet.String()
		default:
			c.adopt(account)
		}
		accounts = append(accounts, account)
	}
	return accounts, nil
}

// balance returns a balance in a file, or nil if it states none.
func balance(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// uploadError maps the errors of package formats to public errors.
func uploadError(err error) error {
	var parse *formats.ParseError
	switch {
	case errors.As(err, &parse):
		return errParseFailed.With(fmt.Sprintf("line %d", parse.Line), parse.Message)
	case errors.Is(err, formats.ErrEmpty):
		return errFileRequired
	case errors.Is(err, formats.ErrUnknownFormat):
		return errFormatUnknown.WithMessage(err.Error())
	case errors.Is(err, formats.ErrTooManyRows):
		return errTooManyRows
	case errors.Is(err, formats.ErrTooLarge):
		return apierr.PayloadTooLarge
	}
	return err
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
