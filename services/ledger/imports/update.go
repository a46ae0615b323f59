package imports

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/resolving"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// lock locks an import of the caller whose version matches If-Match.
func lock(ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string) (staging.Import, error) {
	e, err := unknown(staging.LockImport(ctx, tx, caller.ID(ctx), id))
	if err == nil && !etag.Matches(ifMatch, e.Version) {
		err = apierr.VersionMismatch
	}
	return e, err
}

// change locks an import of the caller whose version matches If-Match, and runs fn.
func (s *Imports) change(
	ctx context.Context, id uuid.UUID, ifMatch string, fn func(tx pgx.Tx, e staging.Import) error,
) error {
	return pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		e, err := lock(ctx, tx, id, ifMatch)
		if err != nil {
			return err
		}
		return fn(tx, e)
	})
}

// UpdateImport changes the mapping, the assignments or the defaults of an import, and derives all
// rows again. Confirmed guesses change no row, so they alone only change the warnings. A small
// import is changed in one database transaction that holds its lock, so a simultaneous commit sees
// the rows before or after the change. A job changes the rows of a large one (see derive).
//
// Errors: EMPTY_UPDATE, IMPORT_STATE unless the import is in preview or has failed, and the errors
// of wallets and categories.
func (s *Imports) UpdateImport(
	ctx context.Context, req *ledgerv1.UpdateImportRequest,
) (*ledgerv1.UpdateImportResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	if !changesRows(req) && len(req.GetConfirm()) == 0 {
		return nil, apierr.EmptyUpdate
	}
	wait, err := jobs.ParseWait(req.Wait, updateWait)
	if err != nil {
		return nil, err
	}
	var u update
	err = s.change(ctx, id, req.GetIfMatch(), func(tx pgx.Tx, e staging.Import) error {
		// The cells of a file are deleted when its rows are booked. Assignments can still change
		// what is left.
		if e.Status != staging.Preview && (e.Status != staging.Failed || req.Mapping != nil) {
			return errState
		}
		details, err := e.ReadDetails()
		if err != nil {
			return err
		}
		if err := applyUpdate(ctx, tx, e.OwnerID, details, req); err != nil {
			return err
		}
		if req.Mapping != nil {
			m := staging.ToMapping(details.GetMapping())
			if details.Heading, err = staging.Heading(ctx, tx, &e, m); err != nil {
				return err
			}
		}
		if changesRows(req) {
			u, err = s.derive(ctx, tx, e, details, req.Mapping != nil)
			return err
		}
		if err := e.SetDetails(details); err != nil {
			return err
		}
		u.Import, err = s.write(ctx, tx, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx, &u, wait); err != nil {
		return nil, err
	}
	resp := &ledgerv1.UpdateImportResponse{Etag: etag.Format(u.Version)}
	if u.started {
		resp.Code, resp.Message = codeUpdateStarted, messageUpdateStarted
	}
	resp.Import, err = u.Proto()
	return resp, err
}

// changesRows reports whether a request changes more than the warnings of an import.
func changesRows(req *ledgerv1.UpdateImportRequest) bool {
	return req.Mapping != nil || req.Defaults != nil ||
		len(req.GetAccounts())+len(req.GetCategories()) > 0
}

// write writes a changed import and reads it again.
func (s *Imports) write(
	ctx context.Context, tx pgx.Tx, e staging.Import,
) (staging.Import, error) {
	e.UpdatedAt = s.Now()
	if err := staging.UpdateImport(ctx, tx, e); err != nil {
		return e, err
	}
	return staging.SelectImport(ctx, tx, e.OwnerID, e.ID)
}

// save writes a changed import and returns it as the API shows it, with its ETag.
func (s *Imports) save(
	ctx context.Context, tx pgx.Tx, e staging.Import,
) (m *ledgerv1.Import, tag string, err error) {
	stored, err := s.write(ctx, tx, e)
	if err != nil {
		return nil, "", err
	}
	m, err = stored.Proto()
	return m, etag.Format(stored.Version), err
}

// applyUpdate validates a request and changes the details, with all problems in one error.
// Accounts, categories and defaults that the request does not name stay as they are. A wallet takes
// precedence over create.
func applyUpdate(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, details *ledgerv1.Import,
	req *ledgerv1.UpdateImportRequest,
) error {
	o, err := resolving.SelectOwned(ctx, tx, owner)
	if err != nil {
		return err
	}
	var p apierr.Problems
	check := references{&p, o}
	if req.Mapping != nil {
		applyMapping(&p, details, req.GetMapping())
	}
	confirm(&p, details, req)
	chooseWallet(details, req)
	for i, change := range req.GetAccounts() {
		at := fmt.Sprintf("accounts[%d].", i)
		j := slices.IndexFunc(details.GetAccounts(), func(a *ledgerv1.ImportAccount) bool {
			return a.GetKey() == change.GetKey()
		})
		// The change of an unknown account is only validated, like that of an unknown category.
		a := &ledgerv1.ImportAccount{}
		if j < 0 {
			p.Invalid(at+"key", "is no account of the file")
		} else {
			a = details.GetAccounts()[j]
		}
		check.wallet(at+"walletId", change.GetWalletId())
		a.WalletId = change.GetWalletId()
		a.Create = change.GetCreate() && change.GetWalletId() == ""
		if change.GetName() != "" {
			var problem *apierr.Field
			a.Name, problem = text.Name(at+"name", change.GetName())
			p.Field(problem)
		} else if a.GetCreate() && a.GetName() == "" && j >= 0 {
			p.Invalid(at+"name", "is required: the file does not name this account")
		}
	}
	for i, change := range req.GetCategories() {
		at := fmt.Sprintf("categories[%d].", i)
		j := slices.IndexFunc(details.GetCategories(), func(c *ledgerv1.ImportCategory) bool {
			return c.GetName() == change.GetName()
		})
		c := &ledgerv1.ImportCategory{}
		if j < 0 {
			p.Invalid(at+"name", "is no category of the file")
		} else {
			c = details.GetCategories()[j]
		}
		check.category(at+"categoryId", change.GetCategoryId())
		c.CategoryId = change.GetCategoryId()
		c.Create = change.GetCreate() && change.GetCategoryId() == ""
	}
	check.applyDefaults(details.GetDefaults(), req.GetDefaults())
	return p.Err()
}

// confirm accepts warnings of the version of an import that the user has seen, which If-Match
// names. Without it, a simultaneous change could replace what the user accepts.
func confirm(p *apierr.Problems, details *ledgerv1.Import, req *ledgerv1.UpdateImportRequest) {
	if len(req.GetConfirm()) > 0 && req.GetIfMatch() == "" {
		p.Invalid("If-Match", "is required with confirm")
	}
	known := append(slices.Clone(statement.Confirmed), statement.BalanceMismatch)
	for _, code := range req.GetConfirm() {
		if !slices.Contains(known, code) {
			p.Invalid("confirm", "must be "+strings.Join(known, ", "))
		}
	}
	staging.Accept(details, req.GetConfirm()...)
}

// applyDefaults replaces the defaults that a change has. An empty text removes one.
func (r references) applyDefaults(
	d *ledgerv1.ImportDefaults, change *ledgerv1.ImportDefaultsChange,
) {
	if change == nil {
		return
	}
	r.wallet("defaults.walletId", change.GetWalletId())
	r.category("defaults.expenseCategoryId", change.GetExpenseCategoryId())
	r.category("defaults.incomeCategoryId", change.GetIncomeCategoryId())
	if change.GetCurrency() != "" {
		*change.Currency = request.ParseCurrency(r.problems, "defaults.currency",
			change.GetCurrency()).Code()
	}
	for _, field := range []struct {
		value  *string
		change *string
	}{
		{&d.WalletId, change.WalletId},
		{&d.ExpenseCategoryId, change.ExpenseCategoryId},
		{&d.IncomeCategoryId, change.IncomeCategoryId},
		{&d.Currency, change.Currency},
	} {
		if field.change != nil {
			*field.value = *field.change
		}
	}
}

// applyMapping replaces the mapping, which confirms the guesses about what it changes. The
// delimiter and the encoding of a staged file cannot be changed, because its cells are stored and
// the file is not.
func applyMapping(p *apierr.Problems, details *ledgerv1.Import, m *ledgerv1.ImportMapping) {
	read := details.GetMapping()
	if read == nil {
		p.Invalid("mapping", "is only possible for CSV, XLSX, QIF and YNAB")
		return
	}
	m.Format = read.GetFormat()
	m.Delimiter = read.GetDelimiter()
	m.Encoding = read.GetEncoding()
	m.Width = read.GetWidth()
	m.Empty = read.GetEmpty()
	changed := staging.ToMapping(m)
	if _, err := changed.Compile(); err != nil {
		for _, problem := range staging.MappingProblems(err) {
			p.Field(problem)
		}
		return
	}
	details.Mapping = m
	staging.Withdraw(details, changed.Confirms(staging.ToMapping(read))...)
}

// references checks ids that a request names.
type references struct {
	problems *apierr.Problems
	owned    resolving.Owned
}

// wallet adds a problem if an id is not empty and names no wallet of the owner.
func (r references) wallet(field, s string) {
	if s == "" {
		return
	}
	id := request.ParseReference(r.problems, field, s, request.ErrInvalidWalletID)
	if id != nil && !r.owned.HasWallet(*id) {
		r.problems.Add(request.ErrWalletNotFound.With(field, "is unknown"))
	}
}

// category adds a problem if an id is not empty and names no category of the owner.
func (r references) category(field, s string) {
	if s == "" {
		return
	}
	id := request.ParseReference(r.problems, field, s, request.ErrInvalidCategoryID)
	if id != nil && !r.owned.HasCategory(*id) {
		r.problems.Add(request.ErrCategoryNotFound.With(field, "is unknown"))
	}
}
