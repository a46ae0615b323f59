package transfers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestTransfersEqualModel does random writes of transactions and transfers, and compares balances,
// totals and spending with a model.
func TestTransfersEqualModel(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		p := newPerson(context.Background(), r, s)
		dinar := s.MakeWallet(p.Ctx, r, "Dinar", "BHD")
		m := model{
			person: p, wallets: []uuid.UUID{p.Wallet, p.bank, p.yen, dinar},
			booked: map[string]amount{},
		}
		for range rapid.IntRange(1, 12).Draw(r, "writes") {
			m.write(r)
			m.check(r)
		}
	})
}

// decimals are the decimals of the currencies in the model.
var decimals = map[string]int{"EUR": 2, "JPY": 0, "BHD": 3}

// format returns minor units as a decimal.
func format(currency string, minor int64) string {
	sign := ""
	if minor < 0 {
		sign, minor = "-", -minor
	}
	digits := fmt.Sprintf("%0*d", decimals[currency]+1, minor)
	whole := digits[:len(digits)-decimals[currency]]
	fraction := digits[len(digits)-decimals[currency]:]
	return strings.TrimSuffix(sign+whole+"."+fraction, ".")
}

// amount is a transaction in the model, in minor units. The transfer is empty for an ordinary one.
type amount struct {
	wallet             uuid.UUID
	currency, transfer string
	minor              int64
}

// model holds the transactions of a person by id, and the ids in the order of their creation.
type model struct {
	person
	wallets []uuid.UUID
	booked  map[string]amount
	order   []string
}

// currency returns the currency of a wallet.
func (m *model) currency(wallet uuid.UUID) string {
	return []string{"EUR", "EUR", "JPY", "BHD"}[slices.Index(m.wallets, wallet)]
}

// pick returns one of the transactions that fit, or an empty text.
func (m *model) pick(r *rapid.T, name string, fits func(amount) bool) string {
	var ids []string
	for _, id := range m.order {
		if b, ok := m.booked[id]; ok && fits(b) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return rapid.SampledFrom(ids).Draw(r, name)
}

// store records a transaction.
func (m *model) store(id string, b amount) {
	if _, known := m.booked[id]; !known {
		m.order = append(m.order, id)
	}
	m.booked[id] = b
}

// ordinary creates a transaction, and returns its id.
func (m *model) ordinary(r *rapid.T, wallet uuid.UUID, minor int64) string {
	currency, kind := m.currency(wallet), posting.Income
	if minor < 0 {
		kind = posting.Expense
	}
	req := m.Spends(format(currency, max(minor, -minor)))
	req.WalletId, req.Currency, req.Type = wallet.String(), currency, &kind
	id := m.Create(r, req).GetId()
	m.store(id, amount{wallet: wallet, currency: currency, minor: minor})
	return id
}

// write does one write and applies it to the model.
func (m *model) write(r *rapid.T) {
	leg := m.pick(r, "leg", func(b amount) bool { return b.transfer != "" && b.minor < 0 })
	wallet := rapid.SampledFrom(m.wallets).Draw(r, "wallet")
	minor := rapid.Int64Range(1, 99_999).Draw(r, "minor")
	others := slices.DeleteFunc(slices.Clone(m.wallets), func(id uuid.UUID) bool {
		return id == wallet
	})
	other := rapid.SampledFrom(others).Draw(r, "other")
	what := rapid.SampledFrom([]string{
		"create", "transfer", "match", "edit", "move", "unlink",
		"delete", "delete a leg",
	}).Draw(r, "what")
	switch {
	case what == "match":
		m.match(r, wallet, other, minor)
	case what == "transfer" || leg == "" && what != "create":
		m.make(r, wallet, other, minor)
	case what == "create":
		m.ordinary(r, wallet, minor*rapid.SampledFrom([]int64{-1, 1}).Draw(r, "sign"))
	case what == "edit":
		m.edit(r, leg, minor)
	case what == "move":
		m.move(r, leg, other)
	case what == "unlink":
		_, err := m.UnlinkTransfer(m.Ctx,
			&unlinkRequest{Id: m.booked[leg].transfer, CategoryId: m.Category.String()})
		require.NoError(r, err)
		for _, id := range m.legs(leg) {
			b := m.booked[id]
			b.transfer = ""
			m.booked[id] = b
		}
	default:
		m.remove(r, leg, what == "delete")
	}
}

// other returns the amount that arrives for an amount that leaves: the same within a currency.
func (m *model) other(r *rapid.T, from, to uuid.UUID, minor int64) int64 {
	if m.currency(from) == m.currency(to) {
		return minor
	}
	return rapid.Int64Range(1, 99_999).Draw(r, "arrives")
}

// make creates a transfer.
func (m *model) make(r *rapid.T, from, to uuid.UUID, minor int64) {
	in := m.other(r, from, to, minor)
	made := m.transfer(r, &createRequest{
		FromWalletId: from.String(), ToWalletId: to.String(), Date: "2026-03-14",
		Amount: format(m.currency(from), minor), ToAmount: new(format(m.currency(to), in)),
	})
	require.Equal(r, format(m.currency(from), minor), made.GetAmount())
	require.Equal(r, format(m.currency(to), in), made.GetToAmount())
	m.store(made.GetOutTransactionId(), amount{from, m.currency(from), made.GetId(), -minor})
	m.store(made.GetInTransactionId(), amount{to, m.currency(to), made.GetId(), in})
}

// match makes a transfer of two new transactions.
func (m *model) match(r *rapid.T, from, to uuid.UUID, minor int64) {
	out, in := m.ordinary(r, from, -minor), m.ordinary(r, to, m.other(r, from, to, minor))
	matched, err := m.person.match(out, in)
	require.NoError(r, err)
	for _, id := range []string{out, in} {
		b := m.booked[id]
		b.transfer = matched.GetId()
		m.booked[id] = b
	}
}

// legs returns both legs of the transfer that an outgoing leg belongs to. The outgoing leg is the
// first one.
func (m *model) legs(out string) []string {
	for id, b := range m.booked {
		if b.transfer == m.booked[out].transfer && id != out {
			return []string{out, id}
		}
	}
	return nil
}

// edit changes the amounts of a transfer.
func (m *model) edit(r *rapid.T, leg string, minor int64) {
	ids := m.legs(leg)
	out, in := m.booked[ids[0]], m.booked[ids[1]]
	out.minor, in.minor = -minor, minor
	req := &updateRequest{Id: out.transfer, Amount: new(format(out.currency, minor))}
	if out.currency != in.currency {
		in.minor = rapid.Int64Range(1, 99_999).Draw(r, "arrives")
		req.ToAmount = new(format(in.currency, in.minor))
	}
	_, err := m.UpdateTransfer(m.Ctx, req)
	require.NoError(r, err)
	m.booked[ids[0]], m.booked[ids[1]] = out, in
}

// move changes the wallet in which a transfer arrives, unless the amount leaves it. The currency
// stays.
func (m *model) move(r *rapid.T, leg string, to uuid.UUID) {
	ids := m.legs(leg)
	if m.booked[leg].wallet == to {
		return
	}
	_, err := m.UpdateTransfer(m.Ctx,
		&updateRequest{Id: m.booked[leg].transfer, ToWalletId: new(to.String())})
	require.NoError(r, err)
	in := m.booked[ids[1]]
	in.wallet = to
	m.booked[ids[1]] = in
}

// remove deletes a transfer, either by its id or by the id of a leg.
func (m *model) remove(r *rapid.T, leg string, byTransfer bool) {
	ids := m.legs(leg)
	var err error
	if byTransfer {
		_, err = m.DeleteTransfer(m.Ctx,
			&ledgerv1.DeleteTransferRequest{Id: m.booked[leg].transfer})
	} else {
		_, err = m.DeleteTransaction(m.Ctx,
			&ledgerv1.DeleteTransactionRequest{Id: rapid.SampledFrom(ids).Draw(r, "deleted leg")})
	}
	require.NoError(r, err)
	for _, id := range ids {
		delete(m.booked, id)
	}
}

// check compares what the service returns with the model.
func (m *model) check(r *rapid.T) {
	m.RequireConsistent(r)
	balances, income := map[string]int64{}, map[string]int64{}
	expense, spent := map[string]int64{}, map[string]int64{}
	for _, b := range m.booked {
		balances[b.wallet.String()+b.currency] += b.minor
		if b.transfer == "" {
			income[b.currency] += max(b.minor, 0)
			expense[b.currency] += max(-b.minor, 0)
			if b.wallet == m.Wallet {
				spent[b.currency] -= b.minor
			}
		}
	}
	for _, w := range m.wallets {
		for currency, got := range m.Balances(r, w) {
			require.Equal(r, format(currency, balances[w.String()+currency]), got)
			delete(balances, w.String()+currency)
		}
	}
	for missing, minor := range balances {
		require.Zero(r, minor, missing)
	}
	summary, err := m.GetSummary(m.Ctx,
		&ledgerv1.GetSummaryRequest{From: new("2026-03-01"), To: new("2026-03-31")})
	require.NoError(r, err)
	for _, got := range summary.GetSummary().GetTotals() {
		require.Equal(r, format(got.GetCurrency(), income[got.GetCurrency()]), got.GetIncome())
		require.Equal(r, format(got.GetCurrency(), expense[got.GetCurrency()]), got.GetExpense())
		delete(income, got.GetCurrency())
	}
	require.Empty(r, income, "each currency has a row")
	march := &ledgerv1.SpendingWindow{
		OwnerId: m.ID.String(), WalletId: m.Wallet.String(),
		CategoryIds: []string{m.Category.String()}, From: "2026-03-01", To: "2026-03-31",
	}
	resp, err := m.SumSpending(m.Ctx,
		&ledgerv1.SumSpendingRequest{Windows: []*ledgerv1.SpendingWindow{march}})
	require.NoError(r, err)
	for _, got := range resp.GetSpendings()[0].GetAmounts() {
		require.Equal(r, spent[got.GetCurrency()], got.GetSpentMinor())
		delete(spent, got.GetCurrency())
	}
	for currency, minor := range spent {
		require.Zero(r, minor, currency)
	}
}
