package transactions

import (
	"cmp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// changes holds the fields of a transaction that a request sets. Each is validated on its own;
// apply validates the combination. A field is nil if the request does not set it, or if it is
// invalid and among the problems.
type changes struct {
	// amount is a positive decimal in the major unit. It stays text because its allowed decimals
	// depend on the currency, which may be the old one.
	amount       *string
	description  *string
	date         *time.Time
	currency     *money.Currency
	wallet       *uuid.UUID
	category     *uuid.UUID
	kind         *string
	payee, notes *string
	// tags are names, as the request has them.
	tags *[]string
	// addedTags and removedTags are names. A request has either them or tags.
	addedTags, removedTags []string
	externalID             *string
	// splits is empty, and not nil, if the request ends a split.
	splits *[]part
	// cleared is nil in new transactions, which are not cleared.
	cleared *bool
}

// parseTransaction returns the fields of a new transaction, and adds a problem for each missing or
// invalid one. The amount, the date, the currency and the wallet are required, and either a
// category or splits.
func parseTransaction(problems *apierr.Problems, req *ledgerv1.CreateTransactionRequest) changes {
	var parsed changes
	required := func(field, value string, set func(*apierr.Problems, string)) {
		if value == "" {
			problems.Invalid(field, "is required")
			return
		}
		set(problems, value)
	}
	required("amount", req.GetAmount(), parsed.setAmount)
	parsed.setDescription(problems, req.GetDescription())
	required("date", req.GetDate(), parsed.setDate)
	required("currency", req.GetCurrency(), parsed.setCurrency)
	required("walletId", req.GetWalletId(), parsed.setWallet)
	if len(req.GetSplits()) == 0 {
		required("categoryId", req.GetCategoryId(), parsed.setCategory)
	} else {
		parsed.setSplits(problems, req.GetSplits())
		if req.GetCategoryId() != "" {
			problems.Field(categoryBesideSplits)
		}
	}
	if req.Type != nil {
		parsed.setKind(problems, req.GetType())
	}
	parsed.setPayee(problems, req.GetPayee())
	parsed.setNotes(problems, req.GetNotes())
	parsed.setTags(problems, req.GetTags())
	if req.GetExternalId() != "" {
		parsed.setExternalID(problems, req.GetExternalId())
	}
	return parsed
}

// parseTransactionUpdate returns the fields that a request changes, or EMPTY_UPDATE if there is
// none.
func parseTransactionUpdate(
	problems *apierr.Problems, req *ledgerv1.TransactionChange,
) (changes, error) {
	if err := apierr.CheckChange(req); err != nil {
		return changes{}, err
	}
	parsed := changes{cleared: req.Cleared}
	optional := func(value *string, set func(*apierr.Problems, string)) {
		if value != nil {
			set(problems, *value)
		}
	}
	optional(req.Amount, parsed.setAmount)
	optional(req.Description, parsed.setDescription)
	optional(req.Date, parsed.setDate)
	optional(req.Currency, parsed.setCurrency)
	optional(req.WalletId, parsed.setWallet)
	optional(req.CategoryId, parsed.setCategory)
	optional(req.Type, parsed.setKind)
	optional(req.Payee, parsed.setPayee)
	optional(req.Notes, parsed.setNotes)
	if req.GetTags() != nil {
		parsed.setTags(problems, req.GetTags().GetValues())
	}
	parsed.addedTags = request.ParseTags(problems, "addTags", req.GetAddTags().GetValues())
	parsed.removedTags = request.ParseTags(problems, "removeTags", req.GetRemoveTags().GetValues())
	if req.GetTags() != nil && (req.GetAddTags() != nil || req.GetRemoveTags() != nil) {
		problems.Invalid("tags", "must be absent with addTags and removeTags")
	}
	if req.GetSplits() != nil {
		parsed.setSplits(problems, req.GetSplits().GetValues())
		if req.CategoryId != nil && len(req.GetSplits().GetValues()) > 0 {
			problems.Field(categoryBesideSplits)
		}
	}
	return parsed, nil
}

// setAmount accepts a positive decimal with at most the decimals of the currency that has the most.
// apply checks the decimals of the actual currency.
func (c *changes) setAmount(p *apierr.Problems, s string) {
	n, err := money.ParseDecimal(s, money.MaxDecimals)
	if problem := money.PositiveProblem(s, n, err); problem != "" {
		p.Invalid("amount", problem)
		return
	}
	c.amount = &s
}

func (c *changes) setDescription(p *apierr.Problems, s string) {
	description, problem := text.Description("description", s)
	p.Field(problem)
	c.description = &description
}

func (c *changes) setDate(p *apierr.Problems, s string) {
	date, _, ok := calendar.ParseTime(s)
	if !ok {
		p.Add(request.ErrInvalidDate.With("date", request.InvalidDate))
		return
	}
	c.date = &date
}

func (c *changes) setCurrency(p *apierr.Problems, s string) {
	if currency := request.ParseCurrency(p, "currency", s); currency != (money.Currency{}) {
		c.currency = &currency
	}
}

// setWallet accepts a UUID. request.CheckOwned checks that the wallet belongs to the caller.
func (c *changes) setWallet(p *apierr.Problems, s string) {
	c.wallet = request.ParseReference(p, "walletId", s, request.ErrInvalidWalletID)
}

// setCategory accepts a UUID. request.CheckOwned checks that the category belongs to the caller.
func (c *changes) setCategory(p *apierr.Problems, s string) {
	c.category = request.ParseReference(p, "categoryId", s, request.ErrInvalidCategoryID)
}

// setKind accepts expense and income. It keeps an invalid value, because the request fails anyway.
func (c *changes) setKind(p *apierr.Problems, s string) {
	if s != posting.Expense && s != posting.Income {
		p.Add(errInvalidTransactionType.With("type", "must be expense or income"))
	}
	c.kind = &s
}

func (c *changes) setPayee(p *apierr.Problems, s string) {
	payee, problem := text.Payee("payee", s)
	p.Field(problem)
	c.payee = &payee
}

func (c *changes) setNotes(p *apierr.Problems, s string) {
	notes, problem := text.Notes("notes", s)
	p.Field(problem)
	c.notes = &notes
}

func (c *changes) setTags(p *apierr.Problems, names []string) {
	tags := request.ParseTags(p, "tags", names)
	c.tags = &tags
}

// setExternalID accepts the ids of request.ParseExternalID, except those by which imports recognize
// pending payments: a row of a file would replace the amount and the day of the transaction. The
// index transactions_external decides whether the id is unique in the wallet.
func (c *changes) setExternalID(p *apierr.Problems, s string) {
	id, problem := request.ParseExternalID(s)
	if problem == nil && strings.HasPrefix(id, statement.PendingID) {
		problem = &apierr.Field{
			Name: "externalId", Message: "must not begin with " + statement.PendingID,
		}
	}
	p.Field(problem)
	c.externalID = &id
}

// apply returns transaction with the changes, and adds a problem if the combination of fields is
// invalid. For a new transaction, transaction is zero. The amount's sign follows the type: the type
// of the request, or otherwise the type of transaction. That is income for a new transaction.
func (c changes) apply(
	problems *apierr.Problems, transaction posting.Transaction,
) posting.Transaction {
	before, negative := transaction, transaction.AmountMinor < 0
	request.Set(&transaction.Description, c.description)
	request.Set(&transaction.Date, c.date)
	request.Set(&transaction.WalletID, c.wallet)
	c.applyDetails(&transaction)
	if c.currency != nil {
		transaction.Currency = c.currency.Code()
	}
	if c.amount == nil && transaction.AmountMinor != 0 && transaction.Currency != before.Currency {
		// Amounts are not converted, and 12280 JPY must not become 12280 EUR.
		problems.Invalid("amount", "is required with another currency")
	}
	if c.amount != nil && transaction.Currency != "" {
		minor, err := money.CurrencyOf(transaction.Currency).Parse(*c.amount)
		if problem := money.PositiveProblem(*c.amount, minor, err); problem != "" {
			problems.Invalid("amount", problem)
		}
		transaction.AmountMinor = minor
	}
	// The sign is applied last, because a request may change the type without the amount, or the
	// amount without the type.
	if c.kind != nil {
		negative = *c.kind == posting.Expense
	}
	transaction.AmountMinor = max(transaction.AmountMinor, -transaction.AmountMinor)
	if negative {
		transaction.AmountMinor = -transaction.AmountMinor
	}
	c.applySplits(problems, before, &transaction)
	return transaction
}

// applyDetails sets the fields of t that depend on no other field. posting.UseTags sets the tags
// later.
func (c changes) applyDetails(t *posting.Transaction) {
	request.Set(&t.Payee, c.payee)
	request.Set(&t.Notes, c.notes)
	request.Set(&t.TagNames, c.tags)
	request.Set(&t.Cleared, c.cleared)
	t.ExternalID = cmp.Or(c.externalID, t.ExternalID)
}

// references returns the wallet and the categories that the changes name, or nil for a field that
// they do not change.
func (c changes) references() request.References {
	named := request.References{Wallet: c.wallet, Category: c.category}
	if c.splits != nil {
		for _, s := range *c.splits {
			named.Parts = append(named.Parts, s.category)
		}
	}
	return named
}
