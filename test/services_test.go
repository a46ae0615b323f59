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
		t.Skip("the services behind BASE_URL are not reachable")
	}
	conn, err := grpc.NewClient(stack.GRPC[service],
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestRPCAuthentication calls the services directly, without the gateway.
func TestRPCAuthentication(t *testing.T) {
	t.Parallel()
	ledger := ledgerv1.NewLedgerServiceClient(dial(t, "ledger"))
	auth := authv1.NewAuthServiceClient(dial(t, "auth"))
	me, victim := newUser(t), newUser(t)
	wallet := victim.wallet("EUR", "0")

	_, err := ledger.GetWallet(t.Context(), &ledgerv1.GetWalletRequest{Id: wallet})
	require.Equal(t, codes.Unauthenticated, status.Code(err))
	for _, forged := range []metadata.MD{
		metadata.Pairs("user-id", victim.id), metadata.Pairs("x-user-id", victim.id),
		metadata.Pairs("authorization", victim.id),
		metadata.Pairs("grpc-metadata-authorization", "Bearer "+victim.token),
		metadata.Pairs("service-key", "guess"), metadata.Pairs("authorization", "Service guess"),
	} {
		_, err := ledger.GetWallet(metadata.NewOutgoingContext(t.Context(), forged),
			&ledgerv1.GetWalletRequest{Id: wallet})
		require.Equal(t, codes.Unauthenticated, status.Code(err), "%v", forged)
	}
	asUser := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+me.token)
	_, err = ledger.GetWallet(asUser, &ledgerv1.GetWalletRequest{Id: wallet})
	require.Equal(t, codes.NotFound, status.Code(err))
	_, err = auth.FindUserByEmail(asUser, &authv1.FindUserByEmailRequest{Email: victim.email})
	require.Equal(t, codes.PermissionDenied, status.Code(err))
	_, err = ledger.SumSpending(asUser, &ledgerv1.SumSpendingRequest{})
	require.Equal(t, codes.PermissionDenied, status.Code(err))
	_, err = ledger.CheckReferences(asUser,
		&ledgerv1.CheckReferencesRequest{OwnerId: victim.id, WalletId: wallet})
	require.Equal(t, codes.PermissionDenied, status.Code(err))
}

// TestEventsInOrder reads a user's events from the stream in NATS.
func TestEventsInOrder(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the stream behind BASE_URL is not reachable")
	}
	bus, err := outbox.Connect(outbox.Config{NATSURL: stack.NATS}, t.Name(), slog.Default())
	require.NoError(t, err)
	t.Cleanup(bus.Close)
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	id := me.spend(wallet, category, "5")
	me.patch("/api/v1/transaction/"+id, object{"amount": 6}).ok("TRANSACTION_UPDATED")
	me.post("/api/v1/transaction", expense(wallet, category, "0")).fails(400, "VALIDATION_ERROR")
	me.del("/api/v1/transaction/" + id).ok("TRANSACTION_DELETED")

	var subjects []string
	seen := map[string]bool{}
	enough := errors.New("enough")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = bus.Follow(ctx, uuid.MustParse(me.id), 0, func(received outbox.Received) error {
		require.Equal(t, me.id, received.UserID.String())
		if strings.HasPrefix(received.Subject, "ledger.") && !seen[received.ID.String()] {
			seen[received.ID.String()], subjects = true, append(subjects, received.Subject)
		}
		if updated, ok := received.Data.(*ledgerv1.TransactionUpdated); ok {
			require.Equal(t, []string{"-5.00", "-6.00"},
				[]string{updated.GetBefore().GetAmount(), updated.GetAfter().GetAmount()})
		}
		if len(subjects) == 5 {
			return enough
		}
		return nil
	})
	require.ErrorIs(t, err, enough, "%v", subjects)
	require.Equal(t, []string{
		"ledger.v1.wallet.created", "ledger.v1.category.created", "ledger.v1.transaction.created",
		"ledger.v1.transaction.updated",
		"ledger.v1.transaction.deleted",
	}, subjects)
}

// TestUnavailableServices stops the processes of a separate stack, one at a time.
func TestUnavailableServices(t *testing.T) {
	t.Parallel()
	own := ownStack(t, "", nil)
	me := newUserAt(t, own.URL, "Ada")
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	budget := me.budget(wallet, category)
	resume := func(part string, probe func() bool) {
		require.NoError(t, own.Resume(t.Context(), part))
		require.Eventually(t, probe, time.Minute, 50*time.Millisecond, part)
	}
	spend := func() response {
		return me.post("/api/v1/transaction", expense(wallet, category, "1"))
	}

	require.NoError(t, own.Halt("ledger"))
	a := spend().fails(503, "SERVICE_UNAVAILABLE")
	require.NotEmpty(t, a.header.Get("Retry-After"))
	require.Nil(t, me.get("/api/v1/budgets/"+budget).ok("BUDGET_FETCHED").at("budget.progress"))
	resume("ledger", func() bool { return spend().status == http.StatusCreated })

	require.NoError(t, own.Halt("nats"))
	spend().created("TRANSACTION_CREATED")
	resume("nats", func() bool { return spend().status == http.StatusCreated })

	require.NoError(t, own.Halt("ocr"))
	text := []byte("SHOP\n2026-03-18\nMilk 1.00\nTOTAL EUR 1.00\n")
	me.upload("", text, "walletId", wallet, "categoryId", category).fails(500,
		"OCR_RESPONSE_FAILED")
	spend().created("TRANSACTION_CREATED")
	resume("ocr", func() bool {
		return me.upload("", text, "walletId", wallet, "categoryId",
			category).status == http.StatusCreated
	})

	require.NoError(t, own.Halt("postgres"))
	began := time.Now()
	spend().fails(503, "SERVICE_UNAVAILABLE")
	require.Less(t, time.Since(began), 5*time.Second)
	resume("postgres", func() bool { return spend().status == http.StatusCreated })
}

// TestEndedSessionAtEachService calls the services directly. Each must reject the session within a
// minute, without the gateway.
func TestEndedSessionAtEachService(t *testing.T) {
	t.Parallel()
	auth := authv1.NewAuthServiceClient(dial(t, "auth"))
	ledger := ledgerv1.NewLedgerServiceClient(dial(t, "ledger"))
	budget := budgetv1.NewBudgetServiceClient(dial(t, "budget"))
	me := newUser(t)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+me.token)
	calls := map[string]func() error{
		"auth": func() error { _, err := auth.GetMe(ctx, &authv1.GetMeRequest{}); return err },
		"ledger": func() error {
			_, err := ledger.ListWallets(ctx, &ledgerv1.ListWalletsRequest{})
			return err
		},
		"budget": func() error {
			_, err := budget.ListBudgets(ctx, &budgetv1.ListBudgetsRequest{})
			return err
		},
	}
	for service, call := range calls {
		require.NoError(t, call(), service)
	}
	me.post("/api/v1/auth/logout", object{}).ok("LOGOUT_SUCCESS")
	deadline := time.Now().Add(time.Minute)
	for service, call := range calls {
		require.Eventually(t, func() bool { return status.Code(call()) == codes.Unauthenticated },
			time.Until(deadline), 200*time.Millisecond, service)
	}
}
