package production

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRotateKeys follows docs/operations.md: it changes each database password and the service key,
// and restarts the services that use them.
func TestRotateKeys(t *testing.T) {
	t.Parallel()
	// Roles and passwords belong to the PostgreSQL server, so the test needs a separate one.
	cluster := newClusterOn(t, "")
	running := cluster.startAll(1, cluster.spawn)
	user := cluster.newUser()
	requireAll := func() {
		t.Helper()
		for _, do := range []func() error{user.earn, user.spend, user.readBudget} {
			require.NoError(t, do())
		}
	}
	requireAll()

	// Open as many connections as the following requests need, also while alerts are checked. A new
	// connection would be rejected after the password has changed.
	var busy sync.WaitGroup
	for range 8 {
		busy.Go(func() {
			assert.NoError(t, errors.Join(user.earn(), user.spend(), user.readBudget()))
		})
	}
	busy.Wait()
	for _, service := range services[:4] {
		cluster.changePassword(service)
		requireAll()
	}
	cluster.replaceAll(running, cluster.spawn)
	requireAll()

	// All services change their key together, because services with different keys reject each
	// other's calls.
	cluster.stores.ServiceKey = rand.Text()
	for _, service := range services {
		cluster.stop(running[service][0])
	}
	running = cluster.startAll(1, cluster.spawn)
	requireAll()
	cluster.newUser()
	require.Equal(t, 0, user.balance(t))
	require.Contains(t, cluster.logs(running), "created a signing key",
		"the old signing keys cannot be decrypted")
}

// changePassword changes the password of a service's role. The service's open connections remain.
func (c *cluster) changePassword(service string) {
	c.t.Helper()
	password := rand.Text()
	conn, err := pgx.Connect(c.t.Context(), c.stores.Databases[""])
	require.NoError(c.t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(c.t.Context())) }()
	_, err = conn.Exec(c.t.Context(), `ALTER ROLE `+service+` PASSWORD '`+password+`'`)
	require.NoError(c.t, err)
	u, err := url.Parse(c.stores.Databases[service])
	require.NoError(c.t, err)
	u.User = url.UserPassword(service, password)
	c.stores.Databases[service] = u.String()
}

// logs stops the instances of auth, and returns their output.
func (c *cluster) logs(running map[string][]*instance) string {
	c.t.Helper()
	output := ""
	for _, i := range running["auth"] {
		c.stop(i)
		output += i.output.String()
	}
	return output
}
