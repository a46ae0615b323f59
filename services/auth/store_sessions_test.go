package auth

import (
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// The tests below call single statements. Among the rows, each differs from a matching one in one
// column, so the result shows which condition a statement has lost. Both users have the same
// password hash: the id alone must select a user.

// storedUsers inserts two users. Inserting them directly costs no password hash.
func (b *bundle) storedUsers(t *testing.T) (ada, bob user) {
	t.Helper()
	now := b.now()
	for i, u := range []*user{&ada, &bob} {
		*u = user{
			ID: uuid.Must(uuid.NewV7()), Name: "User",
			Email:        []string{"ada@example.com", "bob@example.com"}[i],
			PasswordHash: "$argon2id$same", CreatedAt: now, UpdatedAt: now, Version: 1,
			Language: "en",
		}
		require.NoError(t, insertUser(t.Context(), b.db, *u))
	}
	return ada, bob
}

// storedSession inserts a session that was used a minute ago.
func (b *bundle) storedSession(t *testing.T, u user, expires time.Time) uuid.UUID {
	t.Helper()
	s := session{
		ID: uuid.Must(uuid.NewV7()), UserID: u.ID, CreatedAt: b.now().Add(-time.Hour),
		LastUsedAt: b.now().Add(-time.Minute), ExpiresAt: expires,
	}
	require.NoError(t, insertSession(t.Context(), b.db, s))
	return s.ID
}

// end ends a session at a time, without any condition.
func (b *bundle) end(t *testing.T, id uuid.UUID, at time.Time) {
	t.Helper()
	pgtest.Exec(t, b.db, `UPDATE sessions SET revoked_at = $2 WHERE id = $1`, id, at)
}

// ids returns the ids that a statement selects, in the order of the ids.
func (b *bundle) ids(t *testing.T, query string, args ...any) []uuid.UUID {
	t.Helper()
	rows, err := b.db.Query(t.Context(), query, args...)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	require.NoError(t, err)
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return ids
}

// sessions are one session of each kind.
type sessions struct{ live, other, ended, expired, foreign uuid.UUID }

func (b *bundle) sessionsOfEachKind(t *testing.T) (ada, bob user, made sessions) {
	t.Helper()
	ada, bob = b.storedUsers(t)
	later := b.now().Add(time.Hour)
	made = sessions{
		live:    b.storedSession(t, ada, later),
		other:   b.storedSession(t, ada, later),
		ended:   b.storedSession(t, ada, later),
		expired: b.storedSession(t, ada, b.now()),
		foreign: b.storedSession(t, bob, later),
	}
	b.end(t, made.ended, b.now().Add(-time.Second))
	return ada, bob, made
}

func TestSelectSessions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada, _, made := b.sessionsOfEachKind(t)
	list := func(before uuid.UUID) (ids []uuid.UUID) {
		selected, err := selectSessions(t.Context(), b.db, ada.ID, before, b.now(), 10)
		require.NoError(t, err)
		for _, s := range selected {
			ids = append(ids, s.ID)
		}
		return ids
	}
	require.Equal(t, []uuid.UUID{made.other, made.live}, list(uuid.Max))
	require.Equal(t, []uuid.UUID{made.live}, list(made.other))
}

func TestRevokeSessionStatement(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ada, _, made := env.sessionsOfEachKind(t)
	for _, id := range []uuid.UUID{made.ended, made.expired, made.foreign} {
		revoked, err := revokeSession(t.Context(), env.db, ada.ID, id, env.now())
		require.NoError(t, err)
		require.False(t, revoked)
	}
	revoked, err := revokeSession(t.Context(), env.db, ada.ID, made.live, env.now())
	require.NoError(t, err)
	require.True(t, revoked)
	require.Equal(t, []uuid.UUID{made.live},
		env.ids(t, `SELECT id FROM sessions WHERE revoked_at = $1`, env.now()))
}

func TestRevokeOtherSessions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada, _, s := b.sessionsOfEachKind(t)
	n, err := revokeOtherSessions(t.Context(), b.db, ada.ID, s.live, b.now())
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.Equal(t, []uuid.UUID{s.other},
		b.ids(t, `SELECT id FROM sessions WHERE revoked_at = $1`, b.now()))
}

func TestProlongSession(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ada, _, made := env.sessionsOfEachKind(t)
	now, expires := env.now(), env.now().Add(48*time.Hour)
	_, err := prolongSession(t.Context(), env.db, made.ended, now, expires)
	require.ErrorIs(t, err, pgx.ErrNoRows)
	_, err = useSession(t.Context(), env.db, made.ended, now)
	require.ErrorIs(t, err, pgx.ErrNoRows)

	user, err := prolongSession(t.Context(), env.db, made.live, now, expires)
	require.NoError(t, err)
	require.Equal(t, ada.ID, user.ID)
	require.Equal(t, []uuid.UUID{made.live},
		env.ids(t, `SELECT id FROM sessions WHERE expires_at = $1`, expires))
	require.Equal(t, []uuid.UUID{made.live},
		env.ids(t, `SELECT id FROM sessions WHERE last_used_at = $1`, now))

	user, err = useSession(t.Context(), env.db, made.other, now)
	require.NoError(t, err)
	require.Equal(t, ada.ID, user.ID)
	require.Equal(t, []uuid.UUID{made.live, made.other},
		env.ids(t, `SELECT id FROM sessions WHERE last_used_at = $1`, now))
}

func TestSelectUserInSession(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ada, bob, made := env.sessionsOfEachKind(t)
	u, err := selectUserInSession(t.Context(), env.db, ada.ID, made.live, env.now())
	require.NoError(t, err)
	require.Equal(t, ada.ID, u.ID)
	for _, id := range []uuid.UUID{made.ended, made.expired, made.foreign, uuid.New()} {
		_, err = selectUserInSession(t.Context(), env.db, ada.ID, id, env.now())
		require.ErrorIs(t, err, pgx.ErrNoRows)
	}
	_, err = selectUserInSession(t.Context(), env.db, bob.ID, made.live, env.now())
	require.ErrorIs(t, err, pgx.ErrNoRows)
}

// hashes identify one refresh token of each kind.
type hashes struct{ live, used, expired []byte }

func (b *bundle) tokensOfEachKind(t *testing.T) (made hashes, session map[string]uuid.UUID) {
	t.Helper()
	ada, _ := b.storedUsers(t)
	session = map[string]uuid.UUID{}
	insert := func(name string, expires time.Time) []byte {
		hash := sha256.Sum256([]byte(name))
		session[string(hash[:])] = b.storedSession(t, ada, b.now().Add(time.Hour))
		require.NoError(t,
			insertRefreshToken(t.Context(), b.db, hash[:], session[string(hash[:])], expires))
		return hash[:]
	}
	later := b.now().Add(time.Hour)
	made = hashes{
		live: insert("live", later), used: insert("used", later),
		expired: insert("expired", b.now()),
	}
	_, err := useRefreshToken(t.Context(), b.db, made.used, []byte("sealed"),
		b.now().Add(-time.Minute))
	require.NoError(t, err)
	return made, session
}

func TestUseRefreshToken(t *testing.T) {
	t.Parallel()
	env := setup(t)
	made, session := env.tokensOfEachKind(t)
	unknown := sha256.Sum256([]byte("unknown"))
	for _, hash := range [][]byte{made.used, made.expired, unknown[:]} {
		_, err := useRefreshToken(t.Context(), env.db, hash, nil, env.now())
		require.ErrorIs(t, err, pgx.ErrNoRows)
	}
	id, err := useRefreshToken(t.Context(), env.db, made.live, nil, env.now())
	require.NoError(t, err)
	require.Equal(t, session[string(made.live)], id)
	require.Equal(t, []uuid.UUID{id},
		env.ids(t, `SELECT session_id FROM refresh_tokens WHERE used_at = $1`, env.now()))
}

func TestSelectReplacedToken(t *testing.T) {
	t.Parallel()
	env := setup(t)
	made, session := env.tokensOfEachKind(t)
	used := env.now().Add(-time.Minute)
	replaced, err := selectReplacedToken(t.Context(), env.db, made.used, used.Add(-time.Second))
	require.NoError(t, err)
	require.Equal(t, session[string(made.used)], replaced.SessionID)
	_, err = selectReplacedToken(t.Context(), env.db, made.used, used)
	require.ErrorIs(t, err, pgx.ErrNoRows, "the period of a replaced token ends")
	_, err = useRefreshToken(t.Context(), env.db, made.live, nil, used)
	require.NoError(t, err)
	_, err = selectReplacedToken(t.Context(), env.db, made.live, used.Add(-time.Second))
	require.ErrorIs(t, err, pgx.ErrNoRows, "a token without a successor")

	for hash, want := range map[string]bool{
		string(made.expired): true, string(made.used): false, "unknown": false,
	} {
		unused, err := isUnusedRefreshToken(t.Context(), env.db, []byte(hash))
		require.NoError(t, err)
		require.Equal(t, want, unused)
	}
}

func TestRevokeSessionOfUsedToken(t *testing.T) {
	t.Parallel()
	env := setup(t)
	made, session := env.tokensOfEachKind(t)
	_, err := revokeSessionOfUsedToken(t.Context(), env.db, made.live, env.now())
	require.ErrorIs(t, err, pgx.ErrNoRows, "an unused token")
	ended, err := revokeSessionOfUsedToken(t.Context(), env.db, made.used, env.now())
	require.NoError(t, err)
	require.Equal(t, session[string(made.used)], ended.ID)
	require.Equal(t, []uuid.UUID{ended.ID},
		env.ids(t, `SELECT id FROM sessions WHERE revoked_at IS NOT NULL`))
	_, err = revokeSessionOfUsedToken(t.Context(), env.db, made.used, env.now())
	require.ErrorIs(t, err, pgx.ErrNoRows, "an ended session")
}

func TestLockPassword(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ada, bob := env.storedUsers(t)
	stale := ada
	stale.PasswordHash = "$argon2id$former"
	changed, err := updatePassword(t.Context(), env.db, stale, "$argon2id$new", env.now())
	require.NoError(t, err)
	require.False(t, changed, "the password has changed since it was read")
	changed, err = updatePassword(t.Context(), env.db, ada, "$argon2id$new", env.now())
	require.NoError(t, err)
	require.True(t, changed)
	other, err := selectUserByEmail(t.Context(), env.db, bob.Email)
	require.NoError(t, err)
	require.Equal(t, "$argon2id$same", other.PasswordHash)

	tx, err := env.db.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context()) //nolint:errcheck // Nothing was written.
	_, err = lockPassword(t.Context(), tx, ada.ID, ada.PasswordHash)
	require.ErrorIs(t, err, pgx.ErrNoRows, "the former password")
	u, err := lockPassword(t.Context(), tx, bob.ID, bob.PasswordHash)
	require.NoError(t, err)
	require.Equal(t, bob.ID, u.ID)
}
