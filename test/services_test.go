package test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/outbox"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func dial(t *testing.T, service string) *grpc.ClientConn {
	t.Helper()
	if stack == nil {
		t.Skip("the services of BASE_URL are out of reach")
	}
	conn, err := grpc.NewClient(stack.GRPC[service], grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestAServiceReachedDirectlyGivesNothingAway asks past the gateway.
func TestAServiceReachedDirectlyGivesNothingAway(t *testing.T) {
	t.Parallel()
	ledger, auth := ledgerv1.NewLedgerServiceClient(dial(t, "ledger")), authv1.NewAuthServiceClient(dial(t, "auth"))
	p, victim := newPerson(t), newPerson(t)
	wallet := victim.wallet("EUR", "0")

	_, err := ledger.GetWallet(t.Context(), &ledgerv1.GetWalletRequest{Id: wallet})
	require.Equal(t, codes.Unauthenticated, status.Code(err))
	for _, forged := range []metadata.MD{
		metadata.Pairs("user-id", victim.id), metadata.Pairs("x-user-id", victim.id), metadata.Pairs("authorization", victim.id),
		metadata.Pairs("grpc-metadata-authorization", "Bearer "+victim.token), metadata.Pairs("service-key", "guess"), metadata.Pairs("authorization", "Service guess"),
	} {
		_, err := ledger.GetWallet(metadata.NewOutgoingContext(t.Context(), forged), &ledgerv1.GetWalletRequest{Id: wallet})
		require.Equal(t, codes.Unauthenticated, status.Code(err), "%v", forged)
	}
	asUser := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+p.token)
	_, err = ledger.GetWallet(asUser, &ledgerv1.GetWalletRequest{Id: wallet})
	require.Equal(t, codes.NotFound, status.Code(err))
	_, err = auth.FindUserByEmail(asUser, &authv1.FindUserByEmailRequest{Email: victim.email})
	require.Equal(t, codes.PermissionDenied, status.Code(err))
	_, err = ledger.SumSpending(asUser, &ledgerv1.SumSpendingRequest{})
	require.Equal(t, codes.PermissionDenied, status.Code(err))
	_, err = ledger.CheckReferences(asUser, &ledgerv1.CheckReferencesRequest{OwnerId: victim.id, WalletId: wallet})
	require.Equal(t, codes.PermissionDenied, status.Code(err))
}

// TestWhatHappensIsToldInOrder reads a user's own events from the stream.
func TestWhatHappensIsToldInOrder(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the stream of BASE_URL is out of reach")
	}
	bus, err := outbox.Connect(outbox.Config{NATSURL: stack.NATS}, t.Name(), slog.Default())
	require.NoError(t, err)
	t.Cleanup(bus.Close)
	p := newPerson(t)
	wallet, category := p.wallet("EUR", "0"), p.category("Food")
	id := p.spend(wallet, category, "5")
	p.patch("/api/v1/transaction/"+id, object{"amount": 6}).ok("TRANSACTION_UPDATED")
	p.post("/api/v1/transaction", expense(wallet, category, "0")).fails(http.StatusBadRequest, "VALIDATION_ERROR")
	p.del("/api/v1/transaction/" + id).ok("TRANSACTION_DELETED")

	var told []string
	seen := map[string]bool{}
	enough := errors.New("enough")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err = bus.Follow(ctx, uuid.MustParse(p.id), 0, func(e outbox.Received) error {
		require.Equal(t, p.id, e.UserID.String())
		if strings.HasPrefix(e.Subject, "ledger.") && !seen[e.ID.String()] {
			seen[e.ID.String()], told = true, append(told, e.Subject)
		}
		if updated, ok := e.Data.(*ledgerv1.TransactionUpdated); ok {
			require.Equal(t, []string{"-5.00", "-6.00"}, []string{updated.GetBefore().GetAmount(), updated.GetAfter().GetAmount()})
		}
		if len(told) == 5 {
			return enough
		}
		return nil
	})
	require.ErrorIs(t, err, enough, "%v", told)
	require.Equal(t, []string{
		"ledger.v1.wallet.created", "ledger.v1.category.created", "ledger.v1.transaction.created", "ledger.v1.transaction.updated",
		"ledger.v1.transaction.deleted",
	}, told)
}

// TestAServiceThatIsAwayIsAnsweredFor takes parts of a stack of its own away, one by one.
func TestAServiceThatIsAwayIsAnsweredFor(t *testing.T) {
	t.Parallel()
	own := ownStack(t, "", nil)
	p := newPersonAt(t, own.URL, "Ada")
	wallet, category := p.wallet("EUR", "0"), p.category("Food")
	budget := p.budget(wallet, category)
	healed := func(part string, probe func() bool) {
		require.NoError(t, own.Resume(t.Context(), part))
		require.Eventually(t, probe, 20*time.Second, 50*time.Millisecond, part)
	}
	spend := func() answer { return p.post("/api/v1/transaction", expense(wallet, category, "1")) }

	require.NoError(t, own.Halt("ledger"))
	a := spend().fails(http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
	require.NotEmpty(t, a.header.Get("Retry-After"))
	require.Nil(t, p.get("/api/v1/budgets/"+budget).ok("BUDGET_FETCHED").at("budget.progress"))
	healed("ledger", func() bool { return spend().status == http.StatusCreated })

	require.NoError(t, own.Halt("nats"))
	spend().created("TRANSACTION_CREATED")
	healed("nats", func() bool { return spend().status == http.StatusCreated })

	require.NoError(t, own.Halt("ocr"))
	text := []byte("SHOP\n2026-03-18\nMilk 1.00\nTOTAL EUR 1.00\n")
	p.upload("", text, "walletId", wallet, "categoryId", category).fails(http.StatusInternalServerError, "OCR_RESPONSE_FAILED")
	spend().created("TRANSACTION_CREATED")
	healed("ocr", func() bool {
		return p.upload("", text, "walletId", wallet, "categoryId", category).status == http.StatusCreated
	})

	require.NoError(t, own.Halt("postgres"))
	began := time.Now()
	spend().fails(http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
	require.Less(t, time.Since(began), 5*time.Second)
	healed("postgres", func() bool { return spend().status == http.StatusCreated })
}

// TestAnEndedSessionIsRefusedByEveryServiceWithinAMinute asks past the gateway: each must find out for itself.
func TestAnEndedSessionIsRefusedByEveryServiceWithinAMinute(t *testing.T) {
	t.Parallel()
	auth, ledger, budget := authv1.NewAuthServiceClient(dial(t, "auth")), ledgerv1.NewLedgerServiceClient(dial(t, "ledger")), budgetv1.NewBudgetServiceClient(dial(t, "budget"))
	p := newPerson(t)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+p.token)
	calls := map[string]func() error{
		"auth":   func() error { _, err := auth.GetMe(ctx, &authv1.GetMeRequest{}); return err },
		"ledger": func() error { _, err := ledger.ListWallets(ctx, &ledgerv1.ListWalletsRequest{}); return err },
		"budget": func() error { _, err := budget.ListBudgets(ctx, &budgetv1.ListBudgetsRequest{}); return err },
	}
	for service, call := range calls {
		require.NoError(t, call(), service)
	}
	p.post("/api/v1/auth/logout", object{}).ok("LOGOUT_SUCCESS")
	deadline := time.Now().Add(time.Minute)
	for service, call := range calls {
		require.Eventually(t, func() bool { return status.Code(call()) == codes.Unauthenticated }, time.Until(deadline), 200*time.Millisecond, service)
	}
}
