package ledger

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/services/ledger/distribution"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/storage"
)

// Config is the service's configuration, read from the environment.
type Config struct {
	rpc.Config
	Events outbox.Config
	// DatabaseURL is a postgres:// URL with the service's own role. Its search_path names the
	// service's schema.
	DatabaseURL string `env:"DATABASE_URL,required,notEmpty,unset"`
	// AuthAddr is the host:port of the auth service: it publishes the keys of access tokens.
	// OCRAddr is the host:port of the ocr service: it recognizes receipts.
	AuthAddr string `env:"AUTH_ADDR,required,notEmpty"`
	OCRAddr  string `env:"OCR_ADDR,required,notEmpty"`
	// AttachmentQuota is the maximum total size of a user's attachments, in bytes.
	AttachmentQuota int64 `env:"ATTACHMENT_QUOTA" envDefault:"1073741824"`
	// FilesURL is the object store for attachments and receipt images. Empty: they stay in
	// PostgreSQL.
	FilesURL string `env:"FILES_URL"`
	// StorageFolder is a folder on PostgreSQL's volume, if the service runs on the same machine.
	// Empty: the free space is unknown.
	StorageFolder string `env:"STORAGE_FOLDER"`
	// Distributed is distribution.Citus if the tables of the schema are distributed by owner.
	Distributed string `env:"LEDGER_DISTRIBUTED"`
}

// open returns a pool on the database and the store of files, which is nil if none is configured.
func (c Config) open(
	ctx context.Context, log *slog.Logger,
) (*pgxpool.Pool, *files.Store, error) {
	if err := distribution.Check(c.Distributed); err != nil {
		return nil, nil, err
	}
	store, err := files.Open(c.FilesURL, log)
	if err != nil {
		return nil, nil, err
	}
	db, err := pg.Open(ctx, c.DatabaseURL)
	return db, store, err
}

// newBook returns the ledger on a database.
func (c Config) newBook(db *pgxpool.Pool, wake func()) *posting.Ledger {
	return &posting.Ledger{
		DB: db, Wake: wake, Now: time.Now, NewID: newID,
		Distributed: c.Distributed == distribution.Citus,
		Volume:      storage.Volume{Folder: c.StorageFolder, Minimum: storage.Minimum},
	}
}
