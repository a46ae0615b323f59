package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/minio/minio-go/v7"
)

// errRollback ends the transaction of a check that changes nothing.
var errRollback = errors.New("nothing is changed")

// check verifies the object of each file, and reports the objects that no row names. It returns an
// error if the content of a file is missing or wrong.
func (m *mover) check(ctx context.Context, forget bool, out io.Writer) error {
	var done result
	for _, t := range tables {
		err := m.each(ctx, &done, t.selectStored, place{}, func(f file) error {
			_, err := m.store.Read(ctx, f.object())
			return err
		})
		if err != nil {
			return err
		}
	}
	unknown, err := m.unknown(ctx, forget)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%d files in the store are complete, %d are not; "+
		"%d objects belong to no file\n", done.moved, done.failed, unknown); err != nil {
		return err
	}
	if done.failed > 0 {
		return fmt.Errorf("%d files have a wrong content or none: "+
			"restore their objects from a backup of the bucket, or delete them", done.failed)
	}
	return nil
}

// unknown returns the number of objects in the bucket that no row names and that are not listed. If
// forget is set, it lists them.
func (m *mover) unknown(ctx context.Context, forget bool) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	count := 0
	for info := range m.store.client.ListObjectsIter(ctx, m.store.bucket,
		minio.ListObjectsOptions{Recursive: true}) {
		if info.Err != nil {
			return 0, fmt.Errorf("listing the bucket: %w", info.Err)
		}
		owner, id, ok := parseKey(info.Key)
		if !ok {
			continue
		}
		listed, err := m.forget(ctx, Object{OwnerID: owner, ID: id, Size: info.Size}, forget)
		if err != nil {
			return 0, err
		}
		if listed {
			count++
		}
	}
	return count, nil
}

// forget reports whether no row names an object and it is not listed, and lists it if keep is set.
func (m *mover) forget(ctx context.Context, o Object, keep bool) (listed bool, err error) {
	err = pgx.BeginFunc(ctx, m.db, func(tx pgx.Tx) error {
		listed, err = insertUnknown(ctx, tx, o)
		if err == nil && !keep {
			err = errRollback
		}
		return err
	})
	if errors.Is(err, errRollback) {
		err = nil
	}
	return listed, err
}

// parseKey returns the parts of a key. Other objects in the bucket are not of the ledger.
func parseKey(key string) (owner, id uuid.UUID, ok bool) {
	first, second, _ := strings.Cut(key, "/")
	owner, errOwner := uuid.Parse(first)
	id, errID := uuid.Parse(second)
	return owner, id, errOwner == nil && errID == nil &&
		key == (Object{OwnerID: owner, ID: id}).key()
}
