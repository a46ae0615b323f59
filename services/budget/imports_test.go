package budget

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/outbox"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// received returns an event of the ledger.
func received(user budgettest.User, data proto.Message) outbox.Received {
	return outbox.Received{ID: uuid.Must(uuid.NewV7()), UserID: user.ID, Data: data}
}

func TestNotificationsOfImports(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, other := env.user(t, "Owner"), env.user(t, "Other")
	committed := received(owner, &ledgerv1.ImportCommitted{
		OwnerId: owner.ID.String(),
		Import:  &ledgerv1.Import{Id: uuid.NewString(), FileName: "a.csv"},
	})
	failed := received(owner, &ledgerv1.ImportFailed{
		OwnerId: owner.ID.String(), Import: &ledgerv1.Import{Id: uuid.NewString()},
	})
	// A repeated event, the chunks and an undo add none.
	for range 2 {
		id := owner.ID.String()
		env.apply(t,
			received(owner, &ledgerv1.TransactionsImported{OwnerId: id, Count: 500}), committed,
			received(owner, &ledgerv1.TransactionsImportUndone{OwnerId: id, Count: 500}), failed,
			received(owner, &ledgerv1.ImportUndone{OwnerId: id}))
	}
	require.Equal(t, []string{"ledger.v1.import.failed", "ledger.v1.import.committed"},
		env.types(t, owner))
	require.Empty(t, env.types(t, other))
	n := env.notifications(t, owner)[1]
	require.Equal(t, committed.ID.String(), n.GetId())
	data, err := n.GetData().UnmarshalNew()
	require.NoError(t, err)
	require.True(t, proto.Equal(committed.Data, data))
}

func TestAlertsOfImports(t *testing.T) {
	t.Parallel()
	env := setup(t)
	books := env.books()
	owner := env.user(t, "Owner")
	req := newBudget()
	req.StartDate = "2024-01-01"
	created, err := env.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	made := created.GetBudget()
	env.check(t)
	env.events(t)
	// The import of the 24 months before this one exceeds both thresholds of each window. Each
	// chunk has the transactions of two months.
	for month := -24; month < 0; month += 2 {
		first := date(t, "2026-03-01").AddDate(0, month, 0)
		last := date(t, "2026-03-01").AddDate(0, month+1, 9)
		for _, day := range []string{
			first.Format(calendar.DateLayout), last.Format(calendar.DateLayout),
		} {
			books.spend(made.GetWalletId(), day, 500_00)
		}
		env.apply(t, received(owner, &ledgerv1.TransactionsImported{
			OwnerId: owner.ID.String(), Count: 500, WalletIds: []string{made.GetWalletId()},
			CategoryIds: made.GetCategoryIds(),
			FirstDate:   first.Format(calendar.DateLayout),
			LastDate:    last.Format(calendar.DateLayout),
		}))
	}
	require.Equal(t, []string{fmt.Sprintf("%s 100 2026-02-01", owner.ID)}, env.alerts(t),
		"one alert of the last window instead of 48")
}
