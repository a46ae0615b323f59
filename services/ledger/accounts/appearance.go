package accounts

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// maxPosition is the maximum position of a wallet. The constraint wallets_position_range of the
// table has the same maximum.
const maxPosition = 1_000_000

func parseName(p *apierr.Problems, s string) *string {
	name, problem := text.Name("name", s)
	p.Field(problem)
	return &name
}

var colorForm = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

// parseColor returns a color as it was sent, or "" for none. Names of colors and short forms are
// not accepted, so that every client can use the value.
func parseColor(p *apierr.Problems, s string) string {
	if s != "" && !colorForm.MatchString(s) {
		p.Invalid("color", "must be # and six hexadecimal digits, such as #2F6F4F")
	}
	return s
}

func parseIcon(p *apierr.Problems, s string) string {
	icon, problem := text.Icon("icon", s)
	p.Field(problem)
	return icon
}

// otherWallet is the kind of a wallet for which the owner set none.
const otherWallet = "other"

// walletKinds are the kinds of wallets. The constraint wallets_kind of the table has the same ones.
var walletKinds = []string{
	"cash", "checking", "savings", "card", "loan", "investment", "asset", otherWallet,
}

func parseWalletKind(p *apierr.Problems, s string) string {
	if !slices.Contains(walletKinds, s) {
		p.Invalid("kind",
			"must be cash, checking, savings, card, loan, investment, asset or other")
	}
	return s
}

// WalletKind returns a kind, or the default if it is not valid. Imports use it like Appearance.
func WalletKind(s string) string {
	if !slices.Contains(walletKinds, s) {
		return otherWallet
	}
	return s
}

// parseKind returns the kind of a category, or "" for none. A client offers the category for
// transactions of that kind. The ledger does not compare the kind with the type of a transaction,
// so a category of expenses can also have an income.
func parseKind(p *apierr.Problems, s string) string {
	switch s {
	case "", "expense", "income", "both":
	default:
		p.Invalid("kind", "must be expense, income or both")
	}
	return s
}

// Appearance returns the color, the icon and the kind, each empty unless it is valid. Imports use
// it for wallets and categories of a file, which may contain any texts: an invalid appearance must
// not prevent the import.
func Appearance(color, icon, kind string) (validColor, validIcon, validKind string) {
	var ofColor, ofIcon, ofKind apierr.Problems
	validColor = parseColor(&ofColor, color)
	validIcon = parseIcon(&ofIcon, icon)
	validKind = parseKind(&ofKind, kind)
	if ofColor.Err() != nil {
		validColor = ""
	}
	if ofIcon.Err() != nil {
		validIcon = ""
	}
	if ofKind.Err() != nil {
		validKind = ""
	}
	return validColor, validIcon, validKind
}

// parsePosition returns the position of a wallet from a JSON number, or nil if it is empty.
// UpdateWallet receives the number as text, because an empty text has to stand for the JSON null
// that removes the position.
func parsePosition(p *apierr.Problems, s string) *int32 {
	if s == "" {
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		n = -1
	}
	return checkPosition(p, int32(n))
}

func checkPosition(p *apierr.Problems, n int32) *int32 {
	if n < 0 || n > maxPosition {
		p.Invalid("position", "must be a whole number from 0 to 1000000")
	}
	return &n
}

// categoryChanges holds the fields of a category that a request sets; the others are nil. An empty
// field except name removes it.
type categoryChanges struct{ name, color, icon, kind *string }

func parseCategoryChanges(req *ledgerv1.UpdateCategoryRequest) (categoryChanges, error) {
	if err := apierr.CheckChange(req); err != nil {
		return categoryChanges{}, err
	}
	var problems apierr.Problems
	var parsed categoryChanges
	if req.Name != nil {
		parsed.name = parseName(&problems, req.GetName())
	}
	if req.Color != nil {
		parsed.color = new(parseColor(&problems, req.GetColor()))
	}
	if req.Icon != nil {
		parsed.icon = new(parseIcon(&problems, req.GetIcon()))
	}
	if req.Kind != nil {
		parsed.kind = new(parseKind(&problems, req.GetKind()))
	}
	return parsed, problems.Err()
}

func (c categoryChanges) apply(to *category) {
	request.Set(&to.Name, c.name)
	request.Set(&to.Color, c.color)
	request.Set(&to.Icon, c.icon)
	request.Set(&to.Kind, c.kind)
}

func parseCategory(req *ledgerv1.CreateCategoryRequest) (category, error) {
	var p apierr.Problems
	c := category{
		Name: *parseName(&p, req.GetName()), Color: parseColor(&p, req.GetColor()),
		Icon: parseIcon(&p, req.GetIcon()), Kind: parseKind(&p, req.GetKind()),
	}
	return c, p.Err()
}
