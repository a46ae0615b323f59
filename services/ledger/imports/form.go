package imports

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

type form struct {
	request *ledgerv1.CreateImportRequest
	options statement.Options
	wallet  *uuid.UUID
	reject  bool
	name    string
}

func (s *Imports) parseForm(
	ctx context.Context, owner uuid.UUID, req *ledgerv1.CreateImportRequest,
) (form, error) {
	var problems apierr.Problems
	form := form{
		request: req,
		options: statement.Options{
			Format: req.GetFormat(), Locale: req.GetLocale(), Today: s.Now(),
		},
		name: baseName(req.GetHeader().GetFileName()),
	}
	form.options.FileName = form.name
	known := []string{
		statement.CSV, statement.XLSX, statement.OFX, statement.QIF, statement.CAMT,
		statement.MT940, statement.Firefly, statement.YNAB, statement.Coffer,
	}
	if form.options.Format != "" && !slices.Contains(known, form.options.Format) {
		problems.Invalid("format", "must be "+strings.Join(known, ", "))
	}
	switch req.GetOnDuplicate() {
	case "", "keep":
	case "reject":
		form.reject = true
	default:
		problems.Invalid("onDuplicate", "must be keep or reject")
	}
	if len(form.options.Locale) > 35 {
		problems.Invalid("locale", "must be at most 35 characters")
	}
	if req.GetWalletId() != "" {
		form.wallet = request.ParseReference(&problems, "walletId", req.GetWalletId(),
			request.ErrInvalidWalletID)
	}
	return form, request.CheckOwned(ctx, s.DB, problems, owner,
		request.References{Wallet: form.wallet})
}

// baseName returns the name of a file without folders and control characters, in Unicode
// Normalization Form C. It is empty without a visible character.
func baseName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, "\ufffd"), `\`, "/")))
	if !text.Visible(name) {
		return ""
	}
	runes := []rune(norm.NFC.String(name))
	return string(runes[:min(len(runes), maxFileName)])
}
