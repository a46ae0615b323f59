package imports

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/resolving"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

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
	var update update
	err = s.change(ctx, id, req.GetIfMatch(), func(tx pgx.Tx, imp staging.Import) error {
		if err := s.replaceRestoring(ctx, tx, &imp, changesRows(req)); err != nil {
			return err
		}
		// The cells of a file are deleted when its rows are booked. Assignments can still change
		// what is left.
		if imp.Status != staging.Preview && (imp.Status != staging.Failed || req.Mapping != nil) {
			return errState
		}
		details, err := imp.ReadDetails()
		if err != nil {
			return err
		}
		if err := applyUpdate(ctx, tx, imp.OwnerID, details, req); err != nil {
			return err
		}
		if req.Mapping != nil {
			m := staging.ToMapping(details.GetMapping())
			if details.Heading, err = staging.Heading(ctx, tx, &imp, m); err != nil {
				return err
			}
		}
		if changesRows(req) {
			update, err = s.derive(ctx, tx, imp, details, req.Mapping != nil)
			return err
		}
		if err := imp.SetDetails(details); err != nil {
			return err
		}
		update.Import, err = s.write(ctx, tx, imp)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx, &update, wait); err != nil {
		return nil, err
	}
	resp := &ledgerv1.UpdateImportResponse{Etag: etag.Format(update.Version)}
	if update.started {
		resp.Code, resp.Message = codeUpdateStarted, messageUpdateStarted
	}
	resp.Import, err = update.Proto()
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
	owned, err := resolving.SelectOwned(ctx, tx, owner)
	if err != nil {
		return err
	}
	var problems apierr.Problems
	check := references{&problems, owned}
	if req.Mapping != nil {
		applyMapping(&problems, details, req.GetMapping())
	}
	confirm(&problems, details, req)
	chooseWallet(details, req)
	for i, change := range req.GetAccounts() {
		at := fmt.Sprintf("accounts[%d].", i)
		found := slices.IndexFunc(details.GetAccounts(), func(a *ledgerv1.ImportAccount) bool {
			return a.GetKey() == change.GetKey()
		})
		// The change of an unknown account is only validated, like that of an unknown category.
		account := &ledgerv1.ImportAccount{}
		if found < 0 {
			problems.Invalid(at+"key", "is no account of the file")
		} else {
			account = details.GetAccounts()[found]
		}
		check.wallet(at+"walletId", change.GetWalletId())
		account.WalletId = change.GetWalletId()
		account.Create = change.GetCreate() && change.GetWalletId() == ""
		if change.GetName() != "" {
			var problem *apierr.Field
			account.Name, problem = text.Name(at+"name", change.GetName())
			problems.Field(problem)
		} else if account.GetCreate() && account.GetName() == "" && found >= 0 {
			problems.Invalid(at+"name", "is required: the file does not name this account")
		}
	}
	for i, change := range req.GetCategories() {
		at := fmt.Sprintf("categories[%d].", i)
		j := slices.IndexFunc(details.GetCategories(), func(c *ledgerv1.ImportCategory) bool {
			return c.GetName() == change.GetName()
		})
		c := &ledgerv1.ImportCategory{}
		if j < 0 {
			problems.Invalid(at+"name", "is no category of the file")
		} else {
			c = details.GetCategories()[j]
		}
		check.category(at+"categoryId", change.GetCategoryId())
		c.CategoryId = change.GetCategoryId()
		c.Create = change.GetCreate() && change.GetCategoryId() == ""
	}
	check.applyDefaults(details.GetDefaults(), req.GetDefaults())
	return problems.Err()
}

// confirm accepts warnings of the version of an import that the user has seen, which If-Match
// names. Without it, a simultaneous change could replace what the user accepts.
func confirm(
	problems *apierr.Problems, details *ledgerv1.Import, req *ledgerv1.UpdateImportRequest,
) {
	if len(req.GetConfirm()) > 0 && req.GetIfMatch() == "" {
		problems.Invalid("If-Match", "is required with confirm")
	}
	known := slices.Concat(statement.Confirmed, statement.Kept)
	for _, code := range req.GetConfirm() {
		if !slices.Contains(known, code) {
			problems.Invalid("confirm", "must be "+strings.Join(known, ", "))
		}
	}
	staging.Accept(details, req.GetConfirm()...)
}

// applyDefaults replaces the defaults that a change has. An empty text removes one.
func (r references) applyDefaults(
	defaults *ledgerv1.ImportDefaults, change *ledgerv1.ImportDefaultsChange,
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
		{&defaults.WalletId, change.WalletId},
		{&defaults.ExpenseCategoryId, change.ExpenseCategoryId},
		{&defaults.IncomeCategoryId, change.IncomeCategoryId},
		{&defaults.Currency, change.Currency},
	} {
		if field.change != nil {
			*field.value = *field.change
		}
	}
}

// applyMapping replaces the mapping, which confirms the guesses about what it changes. The
// delimiter and the encoding of a staged file cannot be changed, because its cells are stored and
// the file is not.
func applyMapping(
	problems *apierr.Problems, details *ledgerv1.Import, mapping *ledgerv1.ImportMapping,
) {
	read := details.GetMapping()
	if read == nil {
		problems.Invalid("mapping", "is only possible for CSV, XLSX, QIF and YNAB")
		return
	}
	mapping.Format = read.GetFormat()
	mapping.Delimiter = read.GetDelimiter()
	mapping.Encoding = read.GetEncoding()
	mapping.Width = read.GetWidth()
	mapping.Empty = read.GetEmpty()
	changed := staging.ToMapping(mapping)
	if _, err := changed.Compile(); err != nil {
		for _, problem := range staging.MappingProblems(err) {
			problems.Field(problem)
		}
		return
	}
	details.Mapping = mapping
	staging.ReadUnit(details, mapping.GetCurrency())
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
