package accounts

import (
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// walletChanges holds the fields of a wallet that a request sets; the others are nil. An empty
// color or icon removes it.
type walletChanges struct {
	name, kind, color, icon *string
	archived                *bool
	position                *int32
	// noPosition is set if the request removes the position.
	noPosition bool
	// initial is the opening balance in the major unit. It stays text because its decimals depend
	// on the wallet's currency.
	initial       *string
	openingDate   *time.Time
	noOpeningDate bool
}

func parseWalletChanges(req *ledgerv1.UpdateWalletRequest) (walletChanges, error) {
	if err := apierr.CheckChange(req); err != nil {
		return walletChanges{}, err
	}
	var problems apierr.Problems
	parsed := walletChanges{archived: req.Archived, initial: req.InitialBalance}
	if req.Name != nil {
		parsed.name = parseName(&problems, req.GetName())
	}
	if req.Kind != nil {
		parsed.kind = new(parseWalletKind(&problems, req.GetKind()))
	}
	if req.Color != nil {
		parsed.color = new(parseColor(&problems, req.GetColor()))
	}
	if req.Icon != nil {
		parsed.icon = new(parseIcon(&problems, req.GetIcon()))
	}
	if req.Position != nil {
		parsed.position = parsePosition(&problems, req.GetPosition())
		parsed.noPosition = parsed.position == nil
	}
	if parsed.initial != nil {
		if _, err := request.ParseAmount(money.Currency{}, *parsed.initial); err != nil {
			problems.Invalid("initialBalance", err.Error())
		}
	}
	if req.OpeningDate != nil {
		parsed.openingDate = parseOpeningDate(&problems, req.GetOpeningDate())
		parsed.noOpeningDate = req.GetOpeningDate() == ""
	}
	return parsed, problems.Err()
}

// parseOpeningDate returns the day from which an opening balance counts. It is nil for "": then the
// balance counts for all days.
func parseOpeningDate(problems *apierr.Problems, s string) *time.Time {
	if s == "" {
		return nil
	}
	day, ok := calendar.ParseDate(s)
	if !ok {
		problems.Invalid("openingDate", "must be a date of the years 1900 to 2200, YYYY-MM-DD")
		return nil
	}
	return &day
}

// apply sets the changed fields of a wallet, and the balance in its own currency. It returns an
// error if the opening balance has more decimals than the currency.
func (c walletChanges) apply(wallet *wallet) error {
	request.Set(&wallet.Name, c.name)
	request.Set(&wallet.Kind, c.kind)
	request.Set(&wallet.Color, c.color)
	request.Set(&wallet.Icon, c.icon)
	request.Set(&wallet.Archived, c.archived)
	if c.position != nil || c.noPosition {
		wallet.Position = c.position
	}
	if c.openingDate != nil || c.noOpeningDate {
		wallet.OpeningDate = c.openingDate
	}
	if c.initial == nil {
		return nil
	}
	initial, err := request.ParseAmount(money.CurrencyOf(wallet.Currency), *c.initial)
	if err != nil {
		return apierr.Invalid("initialBalance", err.Error())
	}
	wallet.Amounts[0] += initial - wallet.InitialMinor
	wallet.InitialMinor = initial
	return nil
}

func formatDay(day *time.Time) string {
	if day == nil {
		return ""
	}
	return day.Format(calendar.DateLayout)
}

// parseWallet validates the request and returns the wallet with its opening balance, still without
// id and owner.
func parseWallet(req *ledgerv1.CreateWalletRequest) (wallet, error) {
	var p apierr.Problems
	name := parseName(&p, req.GetName())
	currency := request.RequireCurrency(&p, "currency", req.GetCurrency())
	parsed := wallet{
		Name: *name, Currency: currency.Code(), Color: parseColor(&p, req.GetColor()),
		Icon: parseIcon(&p, req.GetIcon()),
	}
	if req.Position != nil {
		parsed.Position = checkPosition(&p, req.GetPosition())
	}
	parsed.Kind = otherWallet
	if req.Kind != nil {
		parsed.Kind = parseWalletKind(&p, req.GetKind())
	}
	if req.Balance != nil {
		var err error
		if parsed.InitialMinor, err = request.ParseAmount(currency, req.GetBalance()); err != nil {
			p.Invalid("balance", err.Error())
		}
	}
	parsed.OpeningDate = parseOpeningDate(&p, req.GetOpeningDate())
	parsed.Currencies, parsed.Amounts = []string{parsed.Currency}, []int64{parsed.InitialMinor}
	return parsed, p.Err()
}
