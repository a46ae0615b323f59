package auth

import (
	"crypto/sha256"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// TestSelectLimitEnd calls the statement that decides whether an attempt is rejected, with counts
// at and below each limit.
func TestSelectLimitEnd(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ada, bob := env.storedUsers(t)
	now, since := env.now(), env.now().Add(-24*time.Hour)
	ends := now.Add(time.Minute)
	subject := func(name string, failures int, ends time.Time) []byte {
		hash := sha256.Sum256([]byte(name))
		pgtest.Exec(t, env.db,
			`INSERT INTO login_failures (subject, failures, ends_at) VALUES ($1, $2, $3)`,
			hash[:], failures, ends)
		return hash[:]
	}
	network := func(s string) netip.Prefix { return netip.MustParsePrefix(s) }
	known, old, bobs := network("192.0.2.1/32"), network("192.0.2.2/32"), network("192.0.2.3/32")
	require.NoError(t,
		upsertKnownAddress(t.Context(), env.db, ada.ID, known, since.Add(time.Second)))
	require.NoError(t, upsertKnownAddress(t.Context(), env.db, ada.ID, old, since))
	require.NoError(t, upsertKnownAddress(t.Context(), env.db, bob.ID, bobs, now))
	below := attempt{
		user: ada.ID, network: network("192.0.2.9/32"),
		pair:    subject("pair below", failuresPerPair-1, ends),
		account: subject("account below", failuresPerAccount-1, ends),
		address: subject("address below", failuresPerAddress-1, ends),
	}
	pair := subject("pair", failuresPerPair, ends)
	account := subject("account", failuresPerAccount, ends)
	address := subject("address", failuresPerAddress, ends)
	over := subject("over", failuresPerAddress, now)
	for name, tc := range map[string]struct {
		change  func(a *attempt)
		limited bool
	}{
		"below all limits":          {func(*attempt) {}, false},
		"pair":                      {func(a *attempt) { a.pair = pair }, true},
		"pair from a known address": {func(a *attempt) { a.pair, a.network = pair, known }, true},
		"pair in a session":         {func(a *attempt) { a.pair, a.session = pair, true }, true},
		"account":                   {func(a *attempt) { a.account = account }, true},
		"account from a known address": {
			func(a *attempt) { a.account, a.network = account, known }, false,
		},
		"account from an address known before": {
			func(a *attempt) { a.account, a.network = account, old }, true,
		},
		"account from another user's address": {
			func(a *attempt) { a.account, a.network = account, bobs }, true,
		},
		"account in a session": {func(a *attempt) { a.account, a.session = account, true }, false},
		"account of another user": {
			func(a *attempt) { a.account, a.user, a.network = account, bob.ID, known }, true,
		},
		"account without an address": {
			func(a *attempt) { a.account, a.network = account, netip.Prefix{} }, true,
		},
		"address":               {func(a *attempt) { a.address = address }, true},
		"address, in a session": {func(a *attempt) { a.address, a.session = address, true }, false},
		"window over": {
			func(a *attempt) { a.pair, a.account, a.address = over, over, over }, false,
		},
	} {
		a := below
		tc.change(&a)
		got, err := selectLimitEnd(t.Context(), env.db, a, now, since)
		require.NoError(t, err, name)
		require.Equal(t, tc.limited, got != nil, name)
		if got != nil {
			require.True(t, ends.Equal(*got), name)
		}
	}
}

// TestExpireStatements deletes rows before a time. The rows of exactly that time stay.
func TestExpireStatements(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ada, _ := env.storedUsers(t)
	at := env.now()
	before, after := at.Add(-time.Second), at.Add(time.Hour)
	expired := env.storedSession(t, ada, before)
	kept := env.storedSession(t, ada, at)
	revoked := env.storedSession(t, ada, after)
	ended := env.storedSession(t, ada, after)
	env.end(t, revoked, before)
	env.end(t, ended, at)
	token := func(session uuid.UUID, expires time.Time) {
		hash := sha256.Sum256(session[:])
		require.NoError(t, insertRefreshToken(t.Context(), env.db, hash[:], session, expires))
	}
	token(kept, at)
	token(ended, before)
	for i, window := range []time.Time{before, at} {
		require.NoError(t, upsertKnownAddress(t.Context(), env.db, ada.ID,
			netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 32), window))
		hash := sha256.Sum256([]byte{byte(i)})
		require.NoError(t,
			countFailures(t.Context(), env.db, [][]byte{hash[:]}, before.Add(-time.Hour), window))
		entry := env.entry(auditLoginSucceeded, ada.ID, uuid.Nil, client{})
		entry.At, entry.LastAt = window, window
		require.NoError(t, insertAudit(t.Context(), env.db, entry))
	}

	require.NoError(t, deleteRefreshTokens(t.Context(), env.db, at))
	require.Equal(t, []uuid.UUID{kept}, env.ids(t, `SELECT session_id FROM refresh_tokens`))
	require.NoError(t, deleteSessions(t.Context(), env.db, at))
	require.NotContains(t, env.ids(t, `SELECT id FROM sessions`), expired)
	require.Equal(t, []uuid.UUID{kept, ended}, env.ids(t, `SELECT id FROM sessions`))
	require.NoError(t, deleteKnownAddresses(t.Context(), env.db, at))
	require.NoError(t, deleteFailures(t.Context(), env.db, at))
	require.NoError(t, deleteAudit(t.Context(), env.db, at))
	for table, column := range map[string]string{
		"known_addresses": "last_used_at", "login_failures": "ends_at", "audit": "at",
	} {
		times := pgtest.Value[[]time.Time](t, env.db, `SELECT array_agg(`+column+`) FROM `+table)
		require.Len(t, times, 1, table)
		require.True(t, at.Equal(times[0]), table)
	}
}

// TestCountAudit counts failures of two users, types, hours and addresses with a limit of one
// address per hour.
func TestCountAudit(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ada, bob := env.storedUsers(t)
	hour := env.now()
	count := func(u user, kind string, hour time.Time, address string) {
		e := env.entry(kind, u.ID, uuid.Nil, client{})
		e.Address = address
		require.NoError(t, countAudit(t.Context(), env.db, e, hour, 1))
	}
	require.NoError(t,
		insertAudit(t.Context(), env.db,
			env.entry(auditLoginSucceeded, ada.ID, uuid.Nil, client{})))
	count(ada, auditLoginFailed, hour.Add(-time.Hour), "192.0.2.1")
	count(bob, auditLoginFailed, hour, "192.0.2.1")
	count(ada, auditPasswordChangeFailed, hour, "192.0.2.1")
	count(ada, auditLoginFailed, hour, "192.0.2.2")
	count(ada, auditLoginFailed, hour, "192.0.2.2")
	count(ada, auditLoginFailed, hour, "192.0.2.3")
	entries, err := selectAudit(t.Context(), env.db, ada.ID, uuid.Max, 10)
	require.NoError(t, err)
	addresses := map[string]int{}
	for _, e := range entries {
		if e.Type == auditLoginFailed && e.Address != "192.0.2.1" {
			addresses[e.Address] += int(e.Times)
		}
	}
	require.Equal(t, map[string]int{"192.0.2.2": 2, "": 1}, addresses)
	require.Len(t, entries, 5)
	older, err := selectAudit(t.Context(), env.db, ada.ID, entries[0].ID, 10)
	require.NoError(t, err)
	require.Equal(t, entries[1:], older)
}
