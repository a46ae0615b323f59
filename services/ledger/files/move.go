package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/pg"
)

// batch is the number of files that a statement selects. Their contents are read one by one.
const batch = 100

// errTaken reports that a file was deleted or moved by another process while it was copied.
var errTaken = errors.New("the file was deleted or moved meanwhile")

// place identifies the row of a file. For an attachment, Page is 0.
type place struct {
	OwnerID uuid.UUID `db:"owner_id"`
	ID      uuid.UUID
	Page    int16
}

// file is a row with the description of its content.
type file struct {
	place
	// Object is nil while the content is in PostgreSQL.
	Object *uuid.UUID
	Size   int64
	SHA256 []byte
}

func (f file) object() Object {
	return Object{OwnerID: f.OwnerID, ID: *f.Object, Size: f.Size, SHA256: f.SHA256}
}

func (f file) String() string {
	if f.Page > 0 {
		return fmt.Sprintf("page %d of receipt %s of owner %s", f.Page, f.ID, f.OwnerID)
	}
	return fmt.Sprintf("attachment %s of owner %s", f.ID, f.OwnerID)
}

// table is a table with files.
type table struct {
	// selectEmbedded and selectStored return files in PostgreSQL or in the store, after a place.
	selectEmbedded, selectStored func(context.Context, pg.Querier, place) ([]file, error)
	// selectContent returns the content of a file that is in PostgreSQL.
	selectContent func(context.Context, pg.Querier, file) ([]byte, error)
	// store replaces the content by the object that the file names. embed does the opposite. Both
	// return false if the row is not there, or its content is elsewhere already.
	store func(context.Context, pgx.Tx, file) (bool, error)
	embed func(ctx context.Context, tx pgx.Tx, f file, content []byte) (bool, error)
}

var tables = []table{attachments, receiptImages}

// mover moves files. Any number of processes may move files at the same time: the transaction that
// replaces the content decides which of them has moved a file.
type mover struct {
	db    *pgxpool.Pool
	store *Store
	log   *slog.Logger
}

// newID returns the id of an object. It is random and has no time, because an object has another
// one in each attempt to move its file.
func newID() uuid.UUID { return uuid.New() } //nolint:forbidigo // See above.

// result counts the files of a run.
type result struct{ moved, failed int }

// toStore moves all files into the store, those of the owner after and greater ones first. So
// several replicas rarely copy the same file. A file whose content is not the one of its row is
// skipped. A failure of the store ends the run, so that each run leaves at most one object that was
// not written completely.
func (m *mover) toStore(ctx context.Context, after uuid.UUID) (result, error) {
	var done result
	for _, t := range tables {
		for _, start := range slices.Compact([]uuid.UUID{after, uuid.Nil}) {
			failed := done.failed
			err := m.each(ctx, &done, t.selectEmbedded, place{OwnerID: start},
				func(f file) error { return m.moveToStore(ctx, t, f) })
			if err != nil {
				return done, err
			}
			if start != uuid.Nil {
				done.failed = failed // The second pass finds these files again.
			}
		}
	}
	return done, nil
}

// toPostgres moves all files into PostgreSQL. A file whose object is missing or differs is skipped.
func (m *mover) toPostgres(ctx context.Context) (result, error) {
	var done result
	for _, t := range tables {
		err := m.each(ctx, &done, t.selectStored, place{},
			func(f file) error { return m.moveToPostgres(ctx, t, f) })
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// each calls move with each file after a place, and counts it. It logs the files with a wrong
// content, and returns any other error.
func (m *mover) each(
	ctx context.Context, done *result,
	next func(context.Context, pg.Querier, place) ([]file, error),
	after place, move func(file) error,
) error {
	for {
		found, err := next(ctx, m.db, after)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, f := range found {
			after = f.place
			switch err := move(f); {
			case err == nil:
				done.moved++
				m.store.count(ctx, moved, 1)
			case errors.Is(err, errTaken):
			case errors.Is(err, errDiffers), errors.Is(err, errMissing):
				done.failed++
				m.store.count(ctx, damaged, 1)
				m.log.ErrorContext(ctx, "failed to read the content of a file",
					"file", f.String(), "error", err)
			default:
				if ctx.Err() == nil {
					m.store.count(ctx, failed, 1)
				}
				return fmt.Errorf("moving %s: %w", f, err)
			}
		}
	}
}

// moveToStore copies a file to a new object, and makes its row name the object.
func (m *mover) moveToStore(ctx context.Context, t table, f file) error {
	content, err := t.selectContent(ctx, m.db, f)
	if errors.Is(err, pgx.ErrNoRows) {
		return errTaken
	}
	if err != nil {
		return err
	}
	hash := sha256.Sum256(content)
	if f.Page > 0 {
		f.Size, f.SHA256 = int64(len(content)), hash[:]
	}
	if !bytes.Equal(hash[:], f.SHA256) {
		return fmt.Errorf("the content in PostgreSQL: %w", errDiffers)
	}
	f.Object = new(newID())
	if err := insertUnreferenced(ctx, m.db, f.object()); err != nil {
		return err
	}
	if err := m.store.put(ctx, f.object(), content); err != nil {
		return err
	}
	err = pg.InTx(ctx, m.db, func(tx pgx.Tx) error {
		// Sweep removes the object if this process was suspended for long.
		listed, err := deleteListed(ctx, tx, f.object())
		if err != nil {
			return err
		}
		if !listed {
			return errTaken
		}
		stored, err := t.store(ctx, tx, f)
		if err == nil && !stored {
			err = errTaken
		}
		return err
	})
	if errors.Is(err, errTaken) {
		return errors.Join(err, m.discard(ctx, f.object()))
	}
	return err
}

// discard removes an object that was written and is not needed.
func (m *mover) discard(ctx context.Context, o Object) error {
	if err := m.store.remove(ctx, o); err != nil {
		return err
	}
	_, err := deleteListed(ctx, m.db, o)
	return err
}

// moveToPostgres copies a file from its object. A trigger lists the object, which the row does not
// name any more.
func (m *mover) moveToPostgres(ctx context.Context, t table, f file) error {
	content, err := m.store.Read(ctx, f.object())
	if err != nil {
		return err
	}
	return pg.InTx(ctx, m.db, func(tx pgx.Tx) error {
		embedded, err := t.embed(ctx, tx, f, content)
		if err == nil && !embedded {
			err = errTaken
		}
		return err
	})
}
