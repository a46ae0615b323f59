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

// TestKeysAreRotatedAsThePageSays follows docs/operations.md: change the key where it is kept, and restart who uses it.
func TestKeysAreRotatedAsThePageSays(t *testing.T) {
	t.Parallel()
	// Roles and their passwords are a server's, so this one is the test's own.
	c := newClusterOn(t, "")
	running := c.startAll(1, c.spawn)
	p := c.newPerson()
	requireAll := func() {
		t.Helper()
		for _, do := range []func() error{p.earn, p.spend, p.look} {
			require.NoError(t, do())
		}
	}
	requireAll()

	// As many connections are open as may be wanted at once, with alerts being checked meanwhile: a new one would be refused.
	var busy sync.WaitGroup
	for range 8 {
		busy.Go(func() { assert.NoError(t, errors.Join(p.earn(), p.spend(), p.look())) })
	}
	busy.Wait()
	for _, service := range services[:4] {
		c.changePassword(service)
		requireAll()
	}
	c.replaceAll(running, c.spawn)
	requireAll()

	// All change together: services with different keys do not talk to each other.
	c.stores.ServiceKey = rand.Text()
	for _, service := range services {
		c.stop(running[service][0])
	}
	running = c.startAll(1, c.spawn)
	requireAll()
	c.newPerson()
	require.Equal(t, 0, p.balance(t))
	require.Contains(t, c.logs(running), "created a signing key", "the earlier keys cannot be opened")
}

// changePassword gives a service's role another password; its connections stay open.
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

// logs stops the instances of auth, and returns what they said.
func (c *cluster) logs(running map[string][]*instance) string {
	c.t.Helper()
	said := ""
	for _, i := range running["auth"] {
		c.stop(i)
		said += i.said.String()
	}
	return said
}
