package test

import (
	"net/http"
	"slices"
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
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/personaltoken"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// newPersonalToken creates a personal access token with these scopes.
func (u *user) newPersonalToken(scopes ...string) response {
	return u.post("/api/v1/auth/tokens", object{"name": "Script", "scopes": scopes}).
		created("TOKEN_CREATED")
}

// personalTokens creates a token of each scope, and one of all scopes, whose key is empty.
func (u *user) personalTokens() map[string]string {
	tokens := map[string]string{"": u.newPersonalToken(caller.Scopes...).text("token")}
	for _, scope := range caller.Scopes {
		tokens[scope] = u.newPersonalToken(scope).text("token")
	}
	return tokens
}

// scopes calls every operation with a personal access token of each scope, and with one of all
// scopes. The option scopes of the RPC decides which of them it accepts. The services check that
// themselves, so it also calls every RPC directly.
func (s *attackRun) scopes(t *testing.T) {
	t.Helper()
	accepted := map[string][]string{}
	all := s.attacker.post("/api/v1/auth/tokens/exchange", object{"token": s.scoped[""]}).
		ok("TOKEN_EXCHANGED").text("accessToken")
	conns := map[string]*grpc.ClientConn{}
	for service, addr := range s.stack.GRPC {
		conn, err := grpc.NewClient("passthrough:///"+addr,
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		conns[service] = conn
	}
	eachRPC(func(service string, method protoreflect.MethodDescriptor) {
		name := string(method.Name())
		scopes := proto.GetExtension(method.Options(), restv1.E_Scopes).([]string)
		accepted[strings.ToLower(name[:1])+name[1:]] = scopes
		access := proto.GetExtension(method.Options(), restv1.E_Access)
		if len(scopes) > 0 || access != restv1.Access_ACCESS_UNSPECIFIED {
			return
		}
		_, err := s.ask(t, conns[service], method, nil, "authorization", "Bearer "+all)
		require.Equal(t, codes.PermissionDenied, status.Code(err), "%s: %v", name, err)
		require.Equal(t, "INSUFFICIENT_SCOPE", apierr.From(err).Reason, name)
	})
	s.eachOperation(t, func(o operation) bool { return o.returns("UNAUTHORIZED") },
		func(t *testing.T, me *user, o operation) {
			t.Helper()
			path, body := s.path(t, o), s.body(t, o)
			// No scope opens events of the account, which an empty list contains.
			if body["events"] != nil {
				body["events"] = []string{"ledger.v1.*.*"}
			}
			for scope, token := range s.scoped {
				me.token = token
				var a response
				if o.OperationID == "createTransactionsFromReceipt" {
					a = me.upload("", []byte(groceries), "walletId", s.attackerIDs["wallet"],
						"categoryId", s.attackerIDs["category"])
				} else {
					a = s.call(me, o, path, body)
				}
				o.requireSafe(t, a, scope)
				opens := slices.Contains(accepted[o.OperationID], scope) ||
					scope == "" && len(accepted[o.OperationID]) > 0
				require.Equal(t, !opens, a.status == http.StatusForbidden, "%s with %s: %d %s",
					o.OperationID, scope, a.status, a.raw)
				if !opens && len(a.raw) > 0 {
					a.fails(http.StatusForbidden, "INSUFFICIENT_SCOPE")
				}
			}
		})
}

// TestPersonalToken uses a token as a script does, from its creation to its deletion.
func TestPersonalToken(t *testing.T) {
	t.Parallel()
	me, other := newUser(t), newUser(t)
	wallet, category := me.wallet("EUR", "10"), me.category("Food")
	made := me.newPersonalToken("read", "transactions:write")
	id := made.text("personalToken.id")
	script := &user{t: t, token: made.text("token")}
	require.True(t, personaltoken.Valid(script.token))

	script.get("/api/v1/wallet/" + wallet).ok("WALLET_FETCHED")
	script.post("/api/v1/transaction", expense(wallet, category, "3")).
		created("TRANSACTION_CREATED")
	script.patch("/api/v1/wallet/"+wallet, object{"name": "X"}).fails(403, "INSUFFICIENT_SCOPE")
	script.post("/api/v1/auth/tokens", object{"name": "More", "scopes": []any{"read"}}).
		fails(403, "INSUFFICIENT_SCOPE")
	script.get("/api/v1/auth/me").fails(403, "INSUFFICIENT_SCOPE")
	other.get("/api/v1/wallet/"+wallet, "Authorization", "Bearer "+script.token).
		ok("WALLET_FETCHED")
	listed := me.get("/api/v1/auth/tokens").ok("TOKENS_FETCHED")
	require.Equal(t, id, listed.text("tokens.0.id"))
	require.NotEmpty(t, listed.text("tokens.0.lastUsedAt"))
	require.NotContains(t, string(listed.raw), script.token)
	writer := &user{t: t, token: me.newPersonalToken("wallets:write").text("token")}
	writer.get("/api/v1/events").fails(403, "INSUFFICIENT_SCOPE")

	access := script.post("/api/v1/auth/tokens/exchange", object{"token": script.token}).
		ok("TOKEN_EXCHANGED").text("accessToken")
	if stack != nil {
		conn, err := grpc.NewClient("passthrough:///"+stack.GRPC["ledger"],
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		require.NoError(t, err)
		defer conn.Close()
		as := func(token string) error {
			_, err := ledgerv1.NewLedgerServiceClient(conn).GetWallet(
				metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token),
				&ledgerv1.GetWalletRequest{Id: wallet})
			return err
		}
		require.NoError(t, as(access))
		require.Equal(t, codes.Unauthenticated, status.Code(as(script.token)),
			"services accept the exchanged token only")
	}

	me.del("/api/v1/auth/tokens/x").fails(400, "INVALID_TOKEN_ID")
	me.del("/api/v1/auth/tokens/"+uuid.NewString()).fails(404, "TOKEN_NOT_FOUND")
	other.del("/api/v1/auth/tokens/"+id).fails(404, "TOKEN_NOT_FOUND")
	script.get("/api/v1/wallet").ok("WALLETS_FETCHED")
	me.del("/api/v1/auth/tokens/" + id).ok("TOKEN_DELETED")
	// The gateway keeps the exchanged token for a minute, but learns of its end within seconds.
	require.Eventually(t, func() bool {
		return script.get("/api/v1/wallet").status == http.StatusUnauthorized
	}, 30*time.Second, 100*time.Millisecond)
	me.post("/api/v1/auth/tokens/exchange", object{"token": script.token}).
		fails(401, "INVALID_PERSONAL_TOKEN")
	script.token = personaltoken.New()
	script.get("/api/v1/wallet").fails(401, "UNAUTHORIZED")
	script.token += "x"
	script.get("/api/v1/wallet").fails(401, "UNAUTHORIZED")

	var types []string
	for _, entry := range me.get("/api/v1/auth/audit").list("entries")[:2] {
		types = append(types, entry.(object)["type"].(string)+" "+
			entry.(object)["tokenName"].(string))
	}
	require.Equal(t, []string{"token_deleted Script", "token_created Script"}, types)
}

func TestPersonalTokenLimit(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	for range 20 {
		me.newPersonalToken("read")
	}
	me.post("/api/v1/auth/tokens", object{"name": "x", "scopes": []any{"read"}}).
		fails(409, "LIMIT_REACHED")
}
