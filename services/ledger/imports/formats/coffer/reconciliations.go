package coffer

import (
	"encoding/json"
	"time"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

const (
	// maxReconciliations is the maximum number of reconciliations in an export.
	maxReconciliations = 20_000
	// maxLocked is the maximum number of transactions that a reconciliation locks, as in package
	// reconciliations. The commit locks them in one database transaction.
	maxLocked = 20_000
)

type reconciliation struct {
	ID       string      `json:"id"`
	WalletID string      `json:"walletId"`
	Currency string      `json:"currency"`
	Date     string      `json:"date"`
	Balance  json.Number `json:"balance"`
	Locked   int32       `json:"locked"`
	Differs  bool        `json:"differs"`
}

// reconciliation adds a reconciliation to the facts.
func (p *parser) reconciliation(r *reconciliation, line int) error {
	if len(p.in.Facts.Reconciliations) == maxReconciliations {
		return scan.Errorf(line, "the file has more than %d reconciliations", maxReconciliations)
	}
	account, known := p.wallets[r.WalletID]
	day, err := time.Parse(time.DateOnly, r.Date)
	balance := statement.Record{Amount: r.Balance.String(), Currency: r.Currency}
	minor, currency, invalid := balance.Minor(money.Currency{})
	if !known || err != nil || invalid != nil || r.Currency == "" || r.Locked < 0 {
		return scan.Errorf(line, "the reconciliation has a field that is missing or cannot be read")
	}
	p.reconciliations[r.ID] = len(p.in.Facts.Reconciliations)
	p.in.Facts.Reconciliations = append(p.in.Facts.Reconciliations, statement.Reconciliation{
		Account: account, Currency: currency.Code(), Date: day, BalanceMinor: minor,
		Locked: r.Locked, Differs: r.Differs,
	})
	return nil
}

// lock adds the last record to the reconciliation with an id, if the file has it. An export of some
// transactions lacks reconciliations.
func (p *parser) lock(id string, line int) error {
	i, ok := p.reconciliations[id]
	if !ok {
		return nil
	}
	r := &p.in.Facts.Reconciliations[i]
	if len(r.Rows) == maxLocked {
		return scan.Errorf(line, "the reconciliation locks more than %d transactions", maxLocked)
	}
	r.Rows = append(r.Rows, p.records)
	return nil
}
