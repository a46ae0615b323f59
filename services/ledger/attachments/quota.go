package attachments

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/files"
)

// checkQuota returns errLimitReached if an uploaded file exceeds the owner's quota. The owner must
// be locked. A store of files keeps deleted files for a day, so they have a limit, too: otherwise a
// user could fill the store by repeated uploads and deletions.
func (s *Attachments) checkQuota(ctx context.Context, tx pgx.Tx, uploaded attachment) error {
	used, err := selectUsage(ctx, tx, uploaded.OwnerID)
	if err != nil {
		return err
	}
	if used+uploaded.Size > s.Quota {
		return errLimitReached.With("file",
			fmt.Sprintf("all attachments may have at most %d bytes together", s.Quota))
	}
	deleted, err := files.SelectUnreferenced(ctx, tx, uploaded.OwnerID)
	if err != nil {
		return err
	}
	if used+deleted+uploaded.Size > 2*s.Quota {
		return errLimitReached.With("file", fmt.Sprintf("the attachments and those that were "+
			"deleted in the last day may have at most %d bytes together", 2*s.Quota))
	}
	return nil
}
