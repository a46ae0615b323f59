package notification

import (
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/spending"
)

// change is a place where an event may have changed the spending.
type change struct {
	// wallet is empty and day is zero if a category took over transactions of any wallet and day.
	wallet, category string
	day              time.Time
	// last is the last day of a range of days, which begins with day. Otherwise it is zero.
	last time.Time
}

// changesOf returns the places that an event may have changed. A deleted refund raises the spending
// like a new expense.
func changesOf(event proto.Message) []change {
	switch typeswitch := event.(type) {
	case *ledgerv1.TransactionCreated:
		return placesOf(typeswitch.GetTransaction())
	case *ledgerv1.TransactionUpdated:
		return placesOf(typeswitch.GetBefore(), typeswitch.GetAfter())
	case *ledgerv1.TransactionDeleted:
		return placesOf(typeswitch.GetTransaction())
	case *ledgerv1.CategoryDeleted:
		return []change{{category: typeswitch.GetReassignedTo()}}
	case *ledgerv1.TransactionsImported:
		return importedPlaces(typeswitch)
	case *ledgerv1.TransactionsImportUndone:
		return importedPlaces(typeswitch)
	}
	return nil
}

func importedPlaces(event interface {
	GetWalletIds() []string
	GetCategoryIds() []string
	GetFirstDate() string
	GetLastDate() string
},
) []change {
	first, err := time.Parse(calendar.DateLayout, event.GetFirstDate())
	last, lastErr := time.Parse(calendar.DateLayout, event.GetLastDate())
	if err != nil || lastErr != nil {
		return nil
	}
	var changes []change
	for _, wallet := range event.GetWalletIds() {
		for _, category := range event.GetCategoryIds() {
			c := change{wallet: wallet, category: category, day: first, last: last}
			changes = append(changes, c)
		}
	}
	return changes
}

// placesOf returns the places of transactions: one for each, or one for each part of a split
// transaction. A leg of a transfer has no category, and is no spending. An event without a valid
// date is ignored: it cannot belong to a window.
func placesOf(transactions ...*ledgerv1.Transaction) []change {
	var changes []change
	for _, transaction := range transactions {
		at, err := time.Parse(time.RFC3339, transaction.GetDate())
		if err != nil {
			continue
		}
		change := change{
			wallet: transaction.GetWalletId(), category: transaction.GetCategoryId(),
			day: calendar.DayOf(at),
		}
		if change.category != "" {
			changes = append(changes, change)
		}
		for _, s := range transaction.GetSplits() {
			change.category = s.GetCategoryId()
			changes = append(changes, change)
		}
	}
	return changes
}

// windowsOf returns the budget's windows that a change falls into and whose spending may raise
// alerts. Future windows, and windows that ended a window's length ago or earlier, raise none. So
// an import of many years concerns at most two windows.
func (b budget) windowsOf(change change, today time.Time) []calendar.Period {
	if change.wallet != "" && change.wallet != b.WalletID.String() || !b.counts(change.category) {
		return nil
	}
	current := b.timeframe().At(today)
	var candidates []calendar.Period
	switch {
	case change.day.IsZero():
		// The transactions of a merged category may be of any day. Only today's window is checked.
		candidates = []calendar.Period{current}
	case change.last.IsZero():
		if w := b.timeframe().At(change.day); w.Contains(change.day) {
			candidates = []calendar.Period{w}
		}
	default:
		previous := b.timeframe().At(current.From.AddDate(0, 0, -1))
		for _, w := range []calendar.Period{previous, current} {
			if !w.From.After(change.last) && w.End.After(change.day) {
				candidates = append(candidates, w)
			}
		}
	}
	return slices.DeleteFunc(candidates, func(w calendar.Period) bool {
		return !raisesAlerts(w, today)
	})
}

// counts reports whether the budget counts transactions of a category.
func (b budget) counts(category string) bool {
	return slices.ContainsFunc(b.CategoryIDs, func(id uuid.UUID) bool {
		return id.String() == category
	})
}

// raisesAlerts reports whether the spending of a window may raise alerts on a day.
func raisesAlerts(w calendar.Period, today time.Time) bool {
	p := spending.PhaseOf(w, today)
	return p == spending.Current || p == spending.Recent
}
