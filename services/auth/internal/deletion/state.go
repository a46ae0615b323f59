package deletion

import (
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// deletion is a row of deletions.
type deletion struct {
	ID uuid.UUID
	// UserID is nil once everything is deleted.
	UserID      *uuid.UUID `db:"user_id"`
	UserMAC     []byte     `db:"user_mac"`
	RequestedAt time.Time  `db:"requested_at"`
	ErasesAt    time.Time  `db:"erases_at"`
	// Asked is the service that was asked last, or empty.
	Asked   string
	AskedAt time.Time `db:"asked_at"`
	// The ends of the parts. LedgerAt is also the end of ocr.
	BudgetAt *time.Time `db:"budget_at"`
	LedgerAt *time.Time `db:"ledger_at"`
	EventsAt *time.Time `db:"events_at"`
	ErasedAt *time.Time `db:"erased_at"`
}

// next returns the service that must delete next, or an empty text if all have. The budget service
// is first, because it calls the ledger for the user.
func (d deletion) next() string {
	switch {
	case d.BudgetAt == nil:
		return "budget"
	case d.LedgerAt == nil:
		return "ledger"
	}
	return ""
}

// cancelable reports whether the deletion has not begun.
func (d deletion) cancelable(now time.Time) bool { return d.Asked == "" && d.ErasesAt.After(now) }

func (d deletion) status() string {
	switch {
	case d.ErasedAt != nil:
		return "erased"
	case d.Asked != "":
		return "erasing"
	}
	return "waiting"
}

func (d deletion) proto() *authv1.AccountDeletion {
	message := &authv1.AccountDeletion{
		Id: d.ID.String(), Status: d.status(), RequestedAt: calendar.FormatTime(d.RequestedAt),
		ErasesAt: calendar.FormatTime(d.ErasesAt),
	}
	for _, part := range []struct {
		name string
		at   *time.Time
	}{
		{"budget", d.BudgetAt},
		{"ledger", d.LedgerAt},
		{"ocr", d.LedgerAt},
		{"events", d.EventsAt},
		{"auth", d.ErasedAt},
	} {
		if part.at != nil {
			message.Services = append(message.Services, &authv1.ErasedPart{
				Name: part.name, ErasedAt: calendar.FormatTime(*part.at),
			})
		}
	}
	return message
}
