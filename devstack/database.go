package devstack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/auth"
	"github.com/coffer-budget/coffer/services/budget"
	"github.com/coffer-budget/coffer/services/ledger"
	"github.com/coffer-budget/coffer/services/ocr"
)

const database = "coffer"

// owner is the role that owns the schemas and runs the migrations. No service uses it.
const owner = "coffer_owner"

// schemas lists each service's schema. The service's role has the same name; it may use the tables
// but not change the schema.
var schemas = []struct {
	name       string
	migrations fs.FS
}{
	{"auth", auth.Migrations},
	{"ledger", ledger.Migrations},
	{"budget", budget.Migrations},
	{"ocr", ocr.Migrations},
}

// prepareDatabase creates the roles, the database and its schemas, or updates them, and returns the
// URLs for Stack.Databases. It is repeated at each start and applies the migrations of a newer
// release. The superuser creates roles and the database, owner runs the migrations, and each
// service connects as its own role, as in production.
func prepareDatabase(
	ctx context.Context, superuser, database string, passwords map[string]string,
) (map[string]string, error) {
	if err := createDatabase(ctx, superuser, database, passwords); err != nil {
		return nil, fmt.Errorf("setting up the database: %w", err)
	}
	target, err := url.Parse(superuser)
	if err != nil {
		return nil, errors.New("the superuser's database URL is not a valid postgres:// URL")
	}
	target.Path = "/" + database
	urls := map[string]string{"": target.String()}
	if err := restrict(ctx, urls[""], database); err != nil {
		return nil, fmt.Errorf("granting rights on the database: %w", err)
	}
	as := func(role, schema string) string {
		u := *target
		u.User = url.UserPassword(role, passwords[role])
		q := u.Query()
		if schema != "" {
			q.Set("search_path", schema)
		}
		u.RawQuery = q.Encode()
		return u.String()
	}
	for _, s := range schemas {
		if err := pg.Migrate(ctx, as(owner, ""), s.name, s.migrations); err != nil {
			return nil, err
		}
		urls[s.name] = as(s.name, s.name)
	}
	return urls, nil
}

// createDatabase creates the roles and the database if they do not exist, and sets the roles'
// passwords. An advisory lock serializes concurrent stacks on one server, because roles belong to
// the whole server. PostgreSQL releases the lock with the connection. Role names and passwords are
// part of the statement because CREATE ROLE accepts no parameters.
func createDatabase(
	ctx context.Context, superuser, database string, passwords map[string]string,
) error {
	conn, err := pgx.Connect(ctx, superuser)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtext('coffer roles'))`); err != nil {
		return err
	}
	for role, password := range passwords {
		var exists bool
		const find = `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)`
		if err := conn.QueryRow(ctx, find, role).Scan(&exists); err != nil {
			return err
		}
		verb := "CREATE"
		if exists {
			verb = "ALTER"
		}
		sql := fmt.Sprintf(`%s ROLE %s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD '%s'`,
			verb, pgx.Identifier{role}.Sanitize(), strings.ReplaceAll(password, "'", "''"))
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("creating the role %s: %w", role, err)
		}
	}
	var exists bool
	const find = `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`
	if err := conn.QueryRow(ctx, find, database).Scan(&exists); err != nil || exists {
		return err
	}
	_, err = conn.Exec(ctx,
		`CREATE DATABASE `+pgx.Identifier{database}.Sanitize()+` TEMPLATE template0`)
	return err
}

// restrict revokes PostgreSQL's default privileges, so that each role can access only its schema.
// By default, each role may connect to each database and use the schema public.
func restrict(ctx context.Context, superuser, database string) error {
	conn, err := pgx.Connect(ctx, superuser)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	name := pgx.Identifier{database}.Sanitize()
	grants := []string{
		`REVOKE ALL ON DATABASE ` + name + ` FROM PUBLIC`,
		`REVOKE ALL ON SCHEMA public FROM PUBLIC`,
		`GRANT CONNECT, CREATE ON DATABASE ` + name + ` TO ` + owner,
	}
	for _, s := range schemas {
		grants = append(grants, `GRANT CONNECT ON DATABASE `+name+` TO `+s.name)
	}
	_, err = conn.Exec(ctx, strings.Join(grants, ";\n"))
	return err
}

// borrowDatabase creates a database on an existing server. Stop drops it, even if a service still
// has connections to it. The random name lets several tests use one server at the same time.
func (s *Stack) borrowDatabase(ctx context.Context, superuser string) (map[string]string, error) {
	database := "coffer_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	s.tidy = append(s.tidy, func() error {
		ctx := context.WithoutCancel(ctx)
		conn, err := pgx.Connect(ctx, superuser)
		if err != nil {
			return fmt.Errorf("dropping the database: %w", err)
		}
		defer func() { _ = conn.Close(ctx) }()
		_, err = conn.Exec(ctx,
			`DROP DATABASE IF EXISTS `+pgx.Identifier{database}.Sanitize()+` WITH (FORCE)`)
		return err
	})
	// All stacks on the server use the same roles, so their passwords must be the same too.
	passwords := map[string]string{}
	for _, role := range roles() {
		passwords[role] = fmt.Sprintf("%x", sha256.Sum256([]byte(superuser+role)))
	}
	return prepareDatabase(ctx, superuser, database, passwords)
}

func roles() []string {
	names := []string{owner}
	for _, s := range schemas {
		names = append(names, s.name)
	}
	return names
}
