package gateway

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	"github.com/coffer-budget/coffer/internal/personaltoken"
	"github.com/coffer-budget/coffer/internal/rpc"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// constantConn is a connection to a service that returns the same encoded reply to each call.
type constantConn struct {
	grpc.ClientConnInterface

	reply []byte
}

// Invoke implements grpc.ClientConnInterface.
func (c constantConn) Invoke(
	_ context.Context, _ string, _, reply any, _ ...grpc.CallOption,
) error {
	encoded := reply.(*rpc.Encoded)
	*encoded = append((*encoded)[:0], c.reply...)
	return nil
}

// BenchmarkHandler measures the gateway without network and services: a create, a page of 50
// transactions, a page of 50 wallets, and the same page if the client has it.
func BenchmarkHandler(b *testing.B) {
	transaction := &ledgerv1.Transaction{
		Id: anID, WalletId: anID, CategoryId: anID, Amount: "12.30", Currency: "USD",
		Type: "expense", Description: "Lunch",
		Date: "2026-01-02", CreatedAt: "2026-01-02T03:04:05.000Z",
		UpdatedAt: "2026-01-02T03:04:05.000Z",
	}
	page := &ledgerv1.ListTransactionsResponse{}
	for range 50 {
		page.Transactions = append(page.Transactions, transaction)
	}
	wallets := &ledgerv1.ListWalletsResponse{}
	for range 50 {
		wallets.Wallets = append(wallets.Wallets, aWallet())
	}
	for _, tc := range []struct {
		name, method, path, body string
		reply                    proto.Message
		status                   int
	}{
		{
			"create", http.MethodPost, transactionPath,
			`{"amount":12.30,"currency":"USD","type":"expense","date":"2026-01-02","walletId":"` +
				anID + `","categoryId":"` + anID + `","description":"Lunch"}`,
			&ledgerv1.CreateTransactionResponse{Transaction: transaction}, http.StatusCreated,
		},
		{
			"page", http.MethodGet, transactionPath + "?limit=50&walletId=" + anID, "", page,
			http.StatusOK,
		},
		{"wallets", http.MethodGet, "/api/v1/wallet", "", wallets, http.StatusOK},
		{
			"unchanged wallets", http.MethodGet, "/api/v1/wallet", "", wallets,
			http.StatusNotModified,
		},
	} {
		b.Run(tc.name, func(b *testing.B) {
			encoded, err := proto.Marshal(tc.reply)
			require.NoError(b, err)
			handler, token := benchmarkHandler(b, constantConn{reply: encoded})
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), tc.method,
					tc.path, strings.NewReader(tc.body))
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Content-Type", "application/json")
				if tc.status == http.StatusNotModified {
					r.Header.Set("If-None-Match", "*")
				}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if w.Code != tc.status {
					b.Fatal(w.Code, w.Body.String())
				}
			}
		})
	}
}

// BenchmarkHandlerPersonalToken measures the same read with the access token of a session, and with
// a personal access token whose exchange is cached.
func BenchmarkHandlerPersonalToken(b *testing.B) {
	encoded, err := proto.Marshal(&ledgerv1.GetWalletResponse{Wallet: aWallet()})
	require.NoError(b, err)
	conn := &exchangingConn{constantConn: constantConn{reply: encoded}}
	handler, access := benchmarkHandler(b, conn)
	conn.access = access
	for name, token := range map[string]string{
		"session": access, "personal": personaltoken.New(),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet,
					"/api/v1/wallet/"+anID, nil)
				r.Header.Set("Authorization", "Bearer "+token)
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body.String())
				}
			}
		})
	}
}

// exchangingConn also answers the exchange of a personal access token.
type exchangingConn struct {
	constantConn

	access string
}

// Invoke implements grpc.ClientConnInterface.
func (c *exchangingConn) Invoke(
	ctx context.Context, method string, req, reply any, opts ...grpc.CallOption,
) error {
	if issued, ok := reply.(*authv1.ExchangeAccessTokenResponse); ok {
		issued.AccessToken = c.access
		return nil
	}
	return c.constantConn.Invoke(ctx, method, req, reply, opts...)
}

// benchmarkHandler returns a handler whose services are conn, and a valid token.
func benchmarkHandler(b *testing.B, conn grpc.ClientConnInterface) (http.Handler, string) {
	b.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(b, err)
	token := newToken(b, key, time.Hour)
	s := &server{
		conns:    connections{auth: conn, ledger: conn, budget: conn, trust: conn},
		verifier: newVerifier(b, key, token, time.Now), transfers: admission.UsualTransfers,
		log: slog.New(slog.NewJSONHandler(io.Discard, nil)),
	}
	handler, err := s.handler(b.Context(), allRoutes(b))
	require.NoError(b, err)
	return handler, token
}
