// Package views serves the views of users: queries of lists and reports with names (ADR 141).
//
// It guarantees that each stored query was valid for the list or report of its kind, and that an
// owner has at most maxViews. A view has no foreign keys: a wallet or category in a query may be
// deleted, and the list then rejects it.
//
//   - views.go: the RPCs of ViewService. query.go: the rule that validates a query
//   - store_views.go: the statements
package views

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const maxViews = 50

var (
	errInvalidID    = apierr.New(restv1.Reason_INVALID_VIEW_ID)
	errNotFound     = apierr.New(restv1.Reason_VIEW_NOT_FOUND)
	errLimitReached = apierr.New(restv1.Reason_LIMIT_REACHED).
			With("view", fmt.Sprintf("a user may have at most %d views", maxViews))
)

// Server implements ViewService.
type Server struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeViewServiceServer

	*posting.Ledger
}

var _ ledgerv1.ViewServiceServer = (*Server)(nil)

// CreateView stores a query under a name. Errors: LIMIT_REACHED.
func (s *Server) CreateView(
	ctx context.Context, req *ledgerv1.CreateViewRequest,
) (*ledgerv1.CreateViewResponse, error) {
	var problems apierr.Problems
	v := view{
		OwnerID: caller.ID(ctx), ID: s.NewID(), Kind: req.GetKind(), Query: req.GetQuery(),
		Version: 1, CreatedAt: s.Now(),
	}
	v.UpdatedAt = v.CreatedAt
	v.setName(&problems, req.GetName())
	checkQuery(&problems, v.Kind, v.Query, v.CreatedAt)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	call := idem.Call{Owner: v.OwnerID, Key: req.GetIdempotencyKey(), Request: req}
	resp := &ledgerv1.CreateViewResponse{View: v.proto(), Etag: etag.Format(v.Version)}
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		// Other writes of the owner wait, so that the count stays true until the commit.
		if err := posting.ShareOwner(ctx, tx, v.OwnerID); err != nil {
			return err
		}
		inserted, err := insertView(ctx, tx, v)
		if err == nil && !inserted {
			return errLimitReached
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// ListViews returns all views of the caller by name. There are at most maxViews, so the list has no
// pages.
func (s *Server) ListViews(
	ctx context.Context, _ *ledgerv1.ListViewsRequest,
) (*ledgerv1.ListViewsResponse, error) {
	views, err := All(ctx, s.DB, caller.ID(ctx))
	if err != nil {
		return nil, err
	}
	return &ledgerv1.ListViewsResponse{Views: views}, nil
}

// All returns the views of an owner by name, as the API shows them. An owner has at most maxViews.
func All(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]*ledgerv1.View, error) {
	rows, err := selectViews(ctx, q, owner)
	return protos(rows), err
}

// GetView returns one of the caller's views.
func (s *Server) GetView(
	ctx context.Context, req *ledgerv1.GetViewRequest,
) (*ledgerv1.GetViewResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	v, err := selectView(ctx, s.DB, caller.ID(ctx), id)
	if err != nil {
		return nil, pg.IfNoRows(err, errNotFound)
	}
	return &ledgerv1.GetViewResponse{View: v.proto(), Etag: etag.Format(v.Version)}, nil
}

// UpdateView changes the name or the query of one of the caller's views. Errors: EMPTY_UPDATE,
// VIEW_NOT_FOUND and VERSION_MISMATCH.
func (s *Server) UpdateView(
	ctx context.Context, req *ledgerv1.UpdateViewRequest,
) (*ledgerv1.UpdateViewResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	if err := apierr.CheckChange(req); err != nil {
		return nil, err
	}
	var v view
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) (err error) {
		if v, err = lockMatching(ctx, tx, id, req.GetIfMatch()); err != nil {
			return err
		}
		var problems apierr.Problems
		if req.Name != nil {
			v.setName(&problems, req.GetName())
		}
		v.Version++
		v.UpdatedAt = s.Now()
		if req.Query != nil {
			v.Query = req.GetQuery()
			checkQuery(&problems, v.Kind, v.Query, v.UpdatedAt)
		}
		if err := problems.Err(); err != nil {
			return err
		}
		return updateView(ctx, tx, v)
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.UpdateViewResponse{View: v.proto(), Etag: etag.Format(v.Version)}, nil
}

// DeleteView deletes one of the caller's views. Errors: VIEW_NOT_FOUND and VERSION_MISMATCH.
func (s *Server) DeleteView(
	ctx context.Context, req *ledgerv1.DeleteViewRequest,
) (*ledgerv1.DeleteViewResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		v, err := lockMatching(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		return deleteView(ctx, tx, v.OwnerID, v.ID)
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteViewResponse{Id: id.String()}, nil
}

// lockMatching locks the caller's view, and returns it if its version matches If-Match.
func lockMatching(ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string) (view, error) {
	v, err := lockView(ctx, tx, caller.ID(ctx), id)
	if err != nil {
		return view{}, pg.IfNoRows(err, errNotFound)
	}
	if !etag.Matches(ifMatch, v.Version) {
		return view{}, apierr.VersionMismatch
	}
	return v, nil
}

func (v view) proto() *ledgerv1.View {
	return &ledgerv1.View{
		Id: v.ID.String(), Name: v.Name, Kind: v.Kind, Query: v.Query,
		CreatedAt: calendar.FormatTime(v.CreatedAt), UpdatedAt: calendar.FormatTime(v.UpdatedAt),
	}
}

func protos(rows []view) []*ledgerv1.View {
	all := make([]*ledgerv1.View, len(rows))
	for i, v := range rows {
		all[i] = v.proto()
	}
	return all
}

func (v *view) setName(p *apierr.Problems, s string) {
	name, problem := text.Name("name", s)
	p.Field(problem)
	v.Name = name
}
