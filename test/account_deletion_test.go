package test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

const accountDeletion = "/api/v1/auth/deletion"

// leave requests the deletion of the account, and returns its id.
func (u *user) leave() string {
	started := u.post(accountDeletion, object{"email": u.email})
	require.Equal(u.t, http.StatusAccepted, started.status, "%s", started.raw)
	return started.text("deletionId")
}

// TestDeleteAccount deletes the account of a user who shares budgets with a friend, and has signed
// in with an identity provider. Afterwards no table and no event names the user, and each row that
// named the friend, and neither the user nor a budget or goal of the user, is the same.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the database behind BASE_URL is not reachable")
	}
	me, friend := newUser(t), newUser(t)
	me.fillAccount(t, friend)
	browser := &surfer{user: me}
	browser.exchange(browser.signInAt(browser.startLink(), me.email)).ok("OIDC_LINKED")
	code := object{"code": browser.signInAt(browser.start(), me.email)}
	browser.post("/api/v1/auth/oidc/exchange", code, "Cookie", browser.cookie,
		"Idempotency-Key", "k").ok("LOGIN_SUCCESS")
	db, err := pgxpool.New(t.Context(), stack.Databases[""])
	require.NoError(t, err)
	t.Cleanup(db.Close)
	me.post(accountDeletion, object{"email": friend.email}).fails(400, "VALIDATION_ERROR")
	gone := []string{me.id, me.email}
	for _, shared := range []string{"budgets", "goals"} {
		for _, listed := range me.get("/api/v1/" + shared).list(shared) {
			if one := listed.(object); one["role"] == "owner" {
				gone = append(gone, one["id"].(string))
			}
		}
	}
	id := me.leave()
	require.Eventually(t, func() bool { return me.get("/api/v1/auth/me").status == 401 },
		time.Minute, 100*time.Millisecond)
	anonymous := &user{t: t}
	require.Equal(t, "waiting", anonymous.get(accountDeletion+"/"+id).text("deletion.status"))
	anonymous.post("/api/v1/auth/login", object{"email": me.email, "password": me.password}).
		fails(403, "ACCOUNT_DELETION_PENDING").blames("cancelToken", "erasesAt")

	kept := settledRows(t, db, friend.id, gone...)
	require.Contains(t, kept, "ledger.wallets")
	require.Contains(t, kept, "budget.budgets")

	// The grace period ends.
	pgtest.Exec(t, db, `UPDATE auth.deletions SET erases_at = now() WHERE id = $1`, id)
	require.Eventually(t, func() bool {
		return anonymous.get(accountDeletion+"/"+id).text("deletion.status") == "erased"
	}, 2*time.Minute, 500*time.Millisecond)
	require.Empty(t, pgtest.Mentions(t, db, me.id, me.email))
	require.Empty(t, messagesNaming(t, me.id, me.email))
	left := pgtest.RowsNaming(t, db, friend.id, gone...)
	for table, rows := range kept {
		require.Subset(t, left[table], rows, table)
	}
	budgets := friend.get("/api/v1/budgets")
	require.Len(t, budgets.list("budgets"), 1, "the budget of the friend")
	// The e-mail can be used again.
	anonymous.post("/api/v1/auth/register", object{
		"name": "Ada", "email": me.email, "password": me.password,
	}).created("USER_REGISTERED")
}

// settledRows returns the result of pgtest.RowsNaming without events, when all services have
// consumed those of the user.
func settledRows(
	t *testing.T, db *pgxpool.Pool, user string, others ...string,
) (rows map[string][]string) {
	t.Helper()
	require.Eventually(t, func() bool {
		before := rows
		rows = pgtest.RowsNaming(t, db, user, others...)
		published := true
		for table := range rows {
			published = published && !strings.HasSuffix(table, ".outbox")
		}
		return published && reflect.DeepEqual(before, rows)
	}, time.Minute, time.Second)
	return rows
}

// messagesNaming returns the subjects of the messages of the stream that contain one of some texts.
func messagesNaming(t *testing.T, texts ...string) (subjects []string) {
	t.Helper()
	conn, err := nats.Connect(stack.NATS)
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	stream, err := js.Stream(t.Context(), "COFFER")
	require.NoError(t, err)
	last := stream.CachedInfo().State.LastSeq
	consumer, err := stream.OrderedConsumer(t.Context(), jetstream.OrderedConsumerConfig{})
	require.NoError(t, err)
	for sequence := uint64(0); sequence < last; {
		batch, err := consumer.Fetch(1000, jetstream.FetchMaxWait(time.Second))
		require.NoError(t, err)
		received := 0
		for m := range batch.Messages() {
			received++
			meta, err := m.Metadata()
			require.NoError(t, err)
			sequence = meta.Sequence.Stream
			for _, text := range texts {
				if strings.Contains(m.Subject(), text) || strings.Contains(string(m.Data()), text) {
					subjects = append(subjects, m.Subject())
				}
			}
		}
		if received == 0 {
			break
		}
	}
	return subjects
}

// TestCancelAccountDeletion cancels a deletion with the token of a rejected sign-in.
func TestCancelAccountDeletion(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	id := me.leave()
	anonymous := &user{t: t}
	rejected := anonymous.post("/api/v1/auth/login",
		object{"email": me.email, "password": me.password})
	rejected.fails(403, "ACCOUNT_DELETION_PENDING")
	token := rejected.text("details.0.message")
	anonymous.post(accountDeletion+"/cancel", object{"cancelToken": token}).
		ok("ACCOUNT_DELETION_CANCELED")
	anonymous.post(accountDeletion+"/cancel", object{"cancelToken": token}).
		fails(404, "DELETION_NOT_FOUND")
	anonymous.get(accountDeletion+"/"+id).fails(404, "DELETION_NOT_FOUND")
	anonymous.post("/api/v1/auth/login", object{"email": me.email, "password": me.password}).
		ok("LOGIN_SUCCESS")
}
