// Package tags serves the list of an owner's tags, and renames, merges and deletes them (ADR 84).
//
// The first use of a tag inserts its row (posting.UseTags), in the database transaction that writes
// the tagged transaction. A transaction stores the keys of its tags. The key of a tag is its name
// in lower case. A transaction shows the names of its tags, so each new name gives the tagged
// transactions a new version: devices that follow the account receive them again.
//
// It guarantees that each tag of a transaction has a row in tags. UpdateTag and DeleteTag hold the
// owner's lock exclusively: no transaction is written at the same time, so none can gain a tag that
// was just removed. Other writes of the owner wait meanwhile, so one request changes at most
// maxChanged transactions. Rules, at most 500, have names of tags, and are changed with the
// transactions.
//
// tags.go has the RPCs of TagService and the steps of a rename. store_tags.go has the statements.
package tags

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/reads"
)

// maxChanged is the maximum number of transactions that one request changes. It limits the time
// that other writes of the owner wait, and leaves a slow machine enough of the request's deadline:
// 50,000 took longer than that (ADR 112).
const maxChanged = 10_000

var (
	errTagNotFound      = apierr.New(restv1.Reason_TAG_NOT_FOUND)
	errTagAlreadyExists = apierr.New(restv1.Reason_TAG_ALREADY_EXISTS)
	errTooMany          = apierr.New(restv1.Reason_LIMIT_REACHED).With("tag",
		fmt.Sprintf("must have at most %d transactions to be changed", maxChanged))
)

// Server implements TagService.
type Server struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeTagServiceServer

	*posting.Ledger
	// Reads limits the simultaneous requests of a user: each counts the transactions of tags, which
	// may be all of the user.
	Reads *reads.Gates
}

var _ ledgerv1.TagServiceServer = (*Server)(nil)

// ListTags returns all tags of the caller, by name.
func (s *Server) ListTags(
	ctx context.Context, _ *ledgerv1.ListTagsRequest,
) (*ledgerv1.ListTagsResponse, error) {
	owner := caller.ID(ctx)
	leave, err := s.Reads.Enter(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	tags, err := All(ctx, s.DB, owner)
	if err != nil {
		return nil, err
	}
	return &ledgerv1.ListTagsResponse{Tags: tags}, nil
}

// All returns all tags of an owner, by name, as the API shows them.
func All(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]*ledgerv1.Tag, error) {
	rows, err := selectTags(ctx, q, owner)
	if err != nil {
		return nil, err
	}
	var tags []*ledgerv1.Tag
	for _, t := range rows {
		tags = append(tags, t.proto())
	}
	return tags, nil
}

// GetTag returns one of the caller's tags. Errors: TAG_NOT_FOUND, also for a text that cannot be a
// name.
func (s *Server) GetTag(
	ctx context.Context, req *ledgerv1.GetTagRequest,
) (*ledgerv1.GetTagResponse, error) {
	owner := caller.ID(ctx)
	leave, err := s.Reads.Enter(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	t, err := named(ctx, s.DB, owner, req.GetTag())
	if err != nil {
		return nil, err
	}
	return &ledgerv1.GetTagResponse{Tag: t.proto(), Etag: etag.Format(t.Seq)}, nil
}

// named returns the tag of a name, or errTagNotFound.
func named(ctx context.Context, q pg.Querier, owner uuid.UUID, name string) (tag, error) {
	name, problem := text.Tag("tag", name)
	if problem != nil {
		return tag{}, errTagNotFound
	}
	t, err := selectTag(ctx, q, owner, name)
	return t, pg.IfNoRows(err, errTagNotFound)
}

// changes holds the fields of a tag that a request sets; the others are nil. An empty color removes
// the color.
type changes struct{ name, color *string }

var color = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

func parseChanges(req *ledgerv1.UpdateTagRequest) (changes, error) {
	if req.Name == nil && req.Color == nil {
		return changes{}, apierr.EmptyUpdate
	}
	var problems apierr.Problems
	changes := changes{color: req.Color}
	if req.Name != nil {
		name, problem := text.Tag("name", req.GetName())
		problems.Field(problem)
		changes.name = &name
	}
	if req.GetColor() != "" && !color.MatchString(req.GetColor()) {
		problems.Invalid("color", "must be a color like #1a7f5a")
	}
	return changes, problems.Err()
}

// UpdateTag renames one of the caller's tags, merges it into another one, or changes its color. A
// new name or a merge also changes the transactions and rules that show the name.
//
// Errors: TAG_NOT_FOUND, VERSION_MISMATCH, TAG_ALREADY_EXISTS if the name is taken and the request
// does not merge, EMPTY_UPDATE, and LIMIT_REACHED if more than maxChanged transactions have the
// tag.
func (s *Server) UpdateTag(
	ctx context.Context, req *ledgerv1.UpdateTagRequest,
) (*ledgerv1.UpdateTagResponse, error) {
	parsed, err := parseChanges(req)
	if err != nil {
		return nil, err
	}
	owner := caller.ID(ctx)
	leave, err := s.Reads.Enter(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	resp := &ledgerv1.UpdateTagResponse{}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		before, err := lockTag(ctx, tx, owner, req.GetTag(), req.GetIfMatch())
		if err != nil {
			return err
		}
		after := before
		if parsed.color != nil {
			after.Color = *parsed.color
		}
		if parsed.name != nil && *parsed.name != before.Name {
			after, err = s.rename(ctx, tx, owner, after, *parsed.name, req.GetMerge())
			if err != nil {
				return err
			}
		} else if err := insertTag(ctx, tx, owner, after); err != nil {
			return err
		}
		if after, err = selectTag(ctx, tx, owner, after.Name); err != nil {
			return err
		}
		resp.Tag, resp.Etag = after.proto(), etag.Format(after.Seq)
		return s.Publish(ctx, tx, owner, &ledgerv1.TagUpdated{
			OwnerId: owner.String(), Tag: after.proto(), PreviousName: before.Name,
		})
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// rename gives a tag another name, and returns the tag of that name. Another tag with this name
// keeps its name and its color, and is only permitted with merge. The caller holds the owner's
// lock.
//
// Devices that follow the account identify a tag by its key. A name with another key is therefore
// another tag, and the previous one is deleted. A name with the same key changes the row, because a
// tombstone with the same number would follow the tag and delete it on the devices.
func (s *Server) rename(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, current tag, name string, merge bool,
) (tag, error) {
	target, err := selectTag(ctx, tx, owner, name)
	merged := err == nil && target.Key != current.Key
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		if target, err = newTag(ctx, tx, name, current); err != nil {
			return tag{}, err
		}
	case err != nil:
		return tag{}, err
	case target.Key == current.Key:
		target.Name, target.Color = name, current.Color
	case !merge:
		return tag{}, errTagAlreadyExists.With("name", "is taken")
	}
	if current.Count > maxChanged {
		return tag{}, errTooMany
	}
	if target.Key != current.Key {
		if err := rewriteApplied(ctx, tx, owner, current.Key, target.Key, merged); err != nil {
			return tag{}, err
		}
		if err := deleteTag(ctx, tx, owner, current.Key); err != nil {
			return tag{}, err
		}
	}
	if err := insertTag(ctx, tx, owner, target); err != nil {
		return tag{}, err
	}
	if err := renameInRules(ctx, tx, owner, current.Key, target.Name, s.Now()); err != nil {
		return tag{}, err
	}
	return target, replaceKey(ctx, tx, owner, current.Key, target.Key, s.Now())
}

// DeleteTag deletes one of the caller's tags and removes it from all transactions, each of which
// gets a new version. Errors: TAG_NOT_FOUND, and LIMIT_REACHED as in UpdateTag.
func (s *Server) DeleteTag(
	ctx context.Context, req *ledgerv1.DeleteTagRequest,
) (*ledgerv1.DeleteTagResponse, error) {
	owner := caller.ID(ctx)
	leave, err := s.Reads.Enter(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	var tag tag
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		var err error
		if tag, err = lockTag(ctx, tx, owner, req.GetTag(), req.GetIfMatch()); err != nil {
			return err
		}
		if tag.Count > maxChanged {
			return errTooMany
		}
		if err := deleteTag(ctx, tx, owner, tag.Key); err != nil {
			return err
		}
		if err := removeKey(ctx, tx, owner, tag.Key, s.Now()); err != nil {
			return err
		}
		if err := removeFromRules(ctx, tx, owner, tag.Key, s.Now()); err != nil {
			return err
		}
		if err := rewriteApplied(ctx, tx, owner, tag.Key, "", true); err != nil {
			return err
		}
		return s.Publish(ctx, tx, owner,
			&ledgerv1.TagDeleted{OwnerId: owner.String(), Tag: tag.proto()})
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteTagResponse{Name: tag.Name}, nil
}

// lockTag takes the owner's lock exclusively and returns the tag of a name whose version matches
// If-Match. Errors: errTagNotFound and VERSION_MISMATCH. The tag is read after the lock, so its
// count is exact until the transaction ends.
func lockTag(ctx context.Context, tx pgx.Tx, owner uuid.UUID, name, ifMatch string) (tag, error) {
	if err := posting.LockOwner(ctx, tx, owner); err != nil {
		return tag{}, err
	}
	t, err := named(ctx, tx, owner, name)
	if err == nil && !etag.Matches(ifMatch, t.Seq) {
		err = apierr.VersionMismatch
	}
	return t, err
}

func (t tag) proto() *ledgerv1.Tag {
	return &ledgerv1.Tag{
		Name: t.Name, Color: t.Color, TransactionCount: int32(min(t.Count, math.MaxInt32)),
	}
}
