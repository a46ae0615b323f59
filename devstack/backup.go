package devstack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/devstack/pgserver"
)

const (
	// databaseURLFile is in the data folder and contains the superuser's URL. dumpFile and
	// secretsFile are the contents of a backup, and secretsFile is in the data folder, too.
	databaseURLFile = "database-url"
	dumpFile        = "coffer.dump"
	secretsFile     = "secrets.json"
)

// Backup writes the data of the running stack with this configuration into a new folder: a
// consistent dump of the database with all schemas, and the secrets, because some columns are
// encrypted with them. The stack continues to serve requests. to must not exist. PostgreSQL's
// pg_dump must be installed in the version of the server.
func Backup(ctx context.Context, config Config, to string) error {
	url, err := os.ReadFile(filepath.Join(config.DataDir, databaseURLFile))
	if err != nil {
		return fmt.Errorf("%s contains no data of Coffer: %w", config.DataDir, err)
	}
	secrets, err := os.ReadFile(filepath.Join(config.DataDir, secretsFile))
	if err != nil {
		return fmt.Errorf("reading the secrets: %w", err)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return fmt.Errorf("creating the backup's folder: %w", err)
	}
	dump := filepath.Join(to, dumpFile)
	err = client(ctx, config, strings.TrimSpace(string(url)),
		"pg_dump", "--format=custom", "--file="+dump)
	if err != nil {
		return fmt.Errorf("dumping the database: %w", err)
	}
	return os.WriteFile(filepath.Join(to, secretsFile), secrets, 0o600)
}

// Restore creates the data of a stack from a backup. The data directory must not contain data yet.
// The next start applies newer migrations and publishes the events that NATS had not stored at the
// time of the backup. It holds the lock of the data folder, so no stack starts meanwhile. After an
// error the folder may contain a part of the data and must be deleted.
func Restore(ctx context.Context, config Config, from string) (err error) {
	dir, err := filepath.Abs(config.DataDir)
	if err != nil {
		return fmt.Errorf("finding the folder %s: %w", config.DataDir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, secretsFile)); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s already contains data of Coffer: set DATA_DIR to another folder", dir)
	}
	stored, err := os.ReadFile(filepath.Join(from, secretsFile))
	if err != nil {
		return fmt.Errorf("%s is not a backup: %w", from, err)
	}
	if err := pgserver.MakeDir(dir); err != nil {
		return err
	}
	unlock, err := lock(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	server, err := pgserver.Start(ctx,
		pgserver.Options{Dir: filepath.Join(dir, "postgres"), Bin: config.PGBin, Durable: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err := os.WriteFile(filepath.Join(dir, secretsFile), stored, 0o600); err != nil {
		return fmt.Errorf("restoring the secrets: %w", err)
	}
	secrets, err := loadSecrets(dir)
	if err != nil {
		return err
	}
	if err := createDatabase(ctx, server.URL, database, secrets.Passwords); err != nil {
		return fmt.Errorf("creating the database: %w", err)
	}
	err = client(ctx, config, server.URL,
		"pg_restore", "--exit-on-error", "--dbname="+database, filepath.Join(from, dumpFile))
	if err != nil {
		return fmt.Errorf("restoring the database: %w", err)
	}
	return nil
}

// client runs one of PostgreSQL's client programs in the version of the server. It returns an error
// that asks whether Coffer is running if the server cannot be reached.
func client(ctx context.Context, config Config, url, program string, args ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("is Coffer running? %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	major, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), ".")
	bin, err := pgserver.Programs(ctx, config.PGBin, major)
	if err != nil {
		return err
	}
	// The environment holds the password, because all users of the machine can see the arguments.
	at := conn.Config()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
	cmd.Env = append(os.Environ(), "PGHOST="+at.Host, "PGPORT="+strconv.Itoa(int(at.Port)),
		"PGUSER="+at.User, "PGPASSWORD="+at.Password, "PGDATABASE="+at.Database)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, output)
	}
	return nil
}
