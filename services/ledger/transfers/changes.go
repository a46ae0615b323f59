package transfers

import (
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// changes holds the fields of a transfer that a request sets. Each is validated on its own; apply
// validates the combination. A field is nil if the request does not set it, or if it is invalid and
// among the problems.
type changes struct {
	from, to sideChanges
	date     *time.Time
	// description and notes are set in both legs.
	description, notes *string
	// tags are names, as the request has them. Both legs get them.
	tags *[]string
}

// sideChanges holds the fields of one leg. Nil fields do not change.
type sideChanges struct {
	wallet *uuid.UUID
	// amount is a positive decimal in the major unit. It stays text because its allowed decimals
	// depend on the currency.
	amount   *string
	currency *money.Currency
}

// The field names of the two legs, in requests and problems.
var (
	fromFields = sideFields{wallet: "fromWalletId", amount: "amount", currency: "currency"}
	toFields   = sideFields{wallet: "toWalletId", amount: "toAmount", currency: "toCurrency"}
)

// sideFields holds the names of the fields of one leg. The setters of both legs are the same
// functions, and only these names differ.
type sideFields struct{ wallet, amount, currency string }

// parseTransfer returns the fields of a new transfer, and adds a problem for each missing or
// invalid one.
func parseTransfer(problems *apierr.Problems, req *ledgerv1.CreateTransferRequest) changes {
	var parsed changes
	parsed.from.wallet = request.RequireReference(problems, fromFields.wallet,
		req.GetFromWalletId(), request.ErrInvalidWalletID)
	parsed.to.wallet = request.RequireReference(problems, toFields.wallet, req.GetToWalletId(),
		request.ErrInvalidWalletID)
	if req.GetAmount() == "" {
		problems.Invalid(fromFields.amount, "is required")
	} else {
		parsed.from.setAmount(problems, fromFields, &req.Amount)
	}
	parsed.from.setCurrency(problems, fromFields, req.Currency)
	parsed.to.setAmount(problems, toFields, req.ToAmount)
	parsed.to.setCurrency(problems, toFields, req.ToCurrency)
	if req.GetDate() == "" {
		problems.Invalid("date", "is required")
	} else {
		parsed.setDate(problems, &req.Date)
	}
	parsed.setDescription(problems, &req.Description)
	parsed.setNotes(problems, &req.Notes)
	parsed.setTags(problems, req.GetTags())
	return parsed
}

func parseTransferUpdate(
	problems *apierr.Problems, req *ledgerv1.UpdateTransferRequest,
) (changes, error) {
	if err := apierr.CheckChange(req); err != nil {
		return changes{}, err
	}
	var parsed changes
	parsed.from.setWallet(problems, fromFields, req.FromWalletId)
	parsed.from.setAmount(problems, fromFields, req.Amount)
	parsed.from.setCurrency(problems, fromFields, req.Currency)
	parsed.to.setWallet(problems, toFields, req.ToWalletId)
	parsed.to.setAmount(problems, toFields, req.ToAmount)
	parsed.to.setCurrency(problems, toFields, req.ToCurrency)
	parsed.setDate(problems, req.Date)
	parsed.setDescription(problems, req.Description)
	parsed.setNotes(problems, req.Notes)
	if req.GetTags() != nil {
		parsed.setTags(problems, req.GetTags().GetValues())
	}
	return parsed, nil
}

// setWallet accepts a UUID. checkWallets checks that the wallet belongs to the owner.
func (c *sideChanges) setWallet(p *apierr.Problems, f sideFields, s *string) {
	if s != nil {
		c.wallet = request.ParseReference(p, f.wallet, *s, request.ErrInvalidWalletID)
	}
}

// setAmount accepts a positive decimal with at most the decimals of the currency that has the most.
// apply checks the decimals of the actual currency.
func (c *sideChanges) setAmount(problems *apierr.Problems, fields sideFields, s *string) {
	if s == nil {
		return
	}
	n, err := money.ParseDecimal(*s, money.MaxDecimals)
	if problem := money.PositiveProblem(*s, n, err); problem != "" {
		problems.Invalid(fields.amount, problem)
		return
	}
	c.amount = s
}

func (c *sideChanges) setCurrency(p *apierr.Problems, f sideFields, s *string) {
	if s == nil {
		return
	}
	if currency := request.ParseCurrency(p, f.currency, *s); currency != (money.Currency{}) {
		c.currency = &currency
	}
}

func (c *changes) setDate(problems *apierr.Problems, s *string) {
	if s == nil {
		return
	}
	date, _, ok := calendar.ParseTime(*s)
	if !ok {
		problems.Add(request.ErrInvalidDate.With("date", request.InvalidDate))
		return
	}
	c.date = &date
}

func (c *changes) setDescription(p *apierr.Problems, s *string) {
	if s == nil {
		return
	}
	description, problem := text.Description("description", *s)
	p.Field(problem)
	c.description = &description
}

func (c *changes) setNotes(p *apierr.Problems, s *string) {
	if s == nil {
		return
	}
	notes, problem := text.Notes("notes", *s)
	p.Field(problem)
	c.notes = &notes
}

func (c *changes) setTags(p *apierr.Problems, names []string) {
	tags := request.ParseTags(p, "tags", names)
	c.tags = &tags
}

func (c changes) wallets() []uuid.UUID {
	var ids []uuid.UUID
	for _, id := range []*uuid.UUID{c.from.wallet, c.to.wallet} {
		if id != nil {
			ids = append(ids, *id)
		}
	}
	return ids
}

// checkWallets adds a problem for each named wallet without a currency, because it does not belong
// to the owner.
func (c changes) checkWallets(p *apierr.Problems, currencies map[uuid.UUID]string) {
	check := func(field string, id *uuid.UUID) {
		if id != nil && currencies[*id] == "" {
			p.Add(request.ErrWalletNotFound.With(field, "is unknown"))
		}
	}
	check(fromFields.wallet, c.from.wallet)
	check(toFields.wallet, c.to.wallet)
}

// start returns a new transfer with the currencies of its wallets. They apply to legs for which the
// request names no currency.
func (c changes) start(currencies map[uuid.UUID]string) Transfer {
	var t Transfer
	if c.from.wallet != nil {
		t.Out.Currency = currencies[*c.from.wallet]
	}
	if c.to.wallet != nil {
		t.In.Currency = currencies[*c.to.wallet]
	}
	return t
}

// apply returns transfer with the changes, and adds a problem if the combination of fields is
// invalid. The amounts of a new transfer are zero. currencies holds the currency of each named
// wallet that belongs to the owner.
//
// The rules: the wallets differ, or the currencies do. Within one currency both amounts are equal,
// and toAmount may be omitted. Between currencies both amounts are required, because Coffer has no
// exchange rates. A create applies them to the result of start, and an update to the locked
// transfer, so both follow the same rules.
func (c changes) apply(
	problems *apierr.Problems, transfer Transfer, currencies map[uuid.UUID]string,
) Transfer {
	c.checkWallets(problems, currencies)
	before := transfer
	c.from.apply(&transfer.Out)
	c.to.apply(&transfer.In)
	c.applyShared(&transfer.Out)
	c.applyShared(&transfer.In)
	c.applyAmounts(problems, before, &transfer)
	if transfer.Out.WalletID == transfer.In.WalletID && transfer.Out.WalletID != uuid.Nil &&
		transfer.inOneCurrency() {
		problems.Add(errSameWallet.With(toFields.wallet,
			"must be another wallet, or have another currency"))
	}
	return transfer
}

func (c sideChanges) apply(leg *posting.Transaction) {
	request.Set(&leg.WalletID, c.wallet)
	if c.currency != nil {
		leg.Currency = c.currency.Code()
	}
}

// applyShared sets the fields that both legs share. It sets only the names of tags; posting.UseTags
// sets their keys later.
func (c changes) applyShared(leg *posting.Transaction) {
	request.Set(&leg.Date, c.date)
	request.Set(&leg.Description, c.description)
	request.Set(&leg.Notes, c.notes)
	request.Set(&leg.TagNames, c.tags)
}

// applyAmounts sets the amounts of transfer in its new currencies. It never converts an amount: a
// new currency requires a new amount. Within one currency, the amount that arrives is the amount
// that left. The local amounts out and in are positive: clients send them without a sign, and the
// sign of the outgoing leg is set at the end.
func (c changes) applyAmounts(problems *apierr.Problems, before Transfer, transfer *Transfer) {
	out, in := -before.Out.AmountMinor, before.In.AmountMinor
	switch {
	case c.from.amount != nil:
		out = parseAmount(problems, fromFields.amount, transfer.Out.Currency, *c.from.amount)
	case out != 0 && transfer.Out.Currency != before.Out.Currency:
		problems.Invalid(fromFields.amount, "is required with another currency")
	}
	switch {
	case c.to.amount != nil:
		in = parseAmount(problems, toFields.amount, transfer.In.Currency, *c.to.amount)
		if transfer.inOneCurrency() && in != out && problems.Err() == nil {
			problems.Add(errAmountMismatch.With(toFields.amount, "must equal amount"))
		}
	case transfer.inOneCurrency():
		in = out
	case in == 0 || transfer.In.Currency != before.In.Currency:
		if transfer.Out.Currency != "" && transfer.In.Currency != "" {
			problems.Invalid(toFields.amount, "is required between currencies")
		}
	}
	transfer.Out.AmountMinor, transfer.In.AmountMinor = -out, in
}

// parseAmount returns an amount in minor units of a currency. Without a currency, because its
// wallet is unknown, it returns zero.
func parseAmount(p *apierr.Problems, field, currency, amount string) int64 {
	if currency == "" {
		return 0
	}
	minor, err := money.CurrencyOf(currency).Parse(amount)
	if problem := money.PositiveProblem(amount, minor, err); problem != "" {
		p.Invalid(field, problem)
	}
	return minor
}
