package imports

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// maxNumbers is the maximum number of rows that a client names in one ListImportRows.
const maxNumbers = 200

// ListImports returns a page of the caller's imports, newest first.
func (s *Imports) ListImports(
	ctx context.Context, req *ledgerv1.ListImportsRequest,
) (*ledgerv1.ListImportsResponse, error) {
	owner := caller.ID(ctx)
	entries, pagination, err := page.List(s.cursors, page.Query[staging.Import, uuid.UUID]{
		Scope: "imports " + owner.String(), Limit: req.Limit, Cursor: req.GetCursor(),
		First:    uuid.Max,
		Position: func(e staging.Import) uuid.UUID { return e.ID },
		Size:     staging.Import.Bytes,
		Select: func(before uuid.UUID, limit int) ([]staging.Import, error) {
			return staging.SelectImports(ctx, s.DB, owner, before, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.ListImportsResponse{Pagination: pagination}
	for _, e := range entries {
		m, err := e.Proto()
		if err != nil {
			return nil, err
		}
		resp.Imports = append(resp.Imports, m)
	}
	return resp, nil
}

// GetImport returns one of the caller's imports. With wait it returns when a job has made progress,
// or after that time.
func (s *Imports) GetImport(
	ctx context.Context, req *ledgerv1.GetImportRequest,
) (*ledgerv1.GetImportResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	wait, err := jobs.ParseWait(req.Wait, 0)
	if err != nil {
		return nil, err
	}
	imp, err := unknown(staging.SelectImport(ctx, s.DB, caller.ID(ctx), id))
	if err != nil {
		return nil, err
	}
	first := imp
	imp, err = s.wait(ctx, imp, wait, func(now staging.Import) bool {
		return !now.Working() || now.Status != first.Status || now.JobDone != first.JobDone
	})
	if err != nil {
		return nil, err
	}
	m, err := imp.Proto()
	if err != nil {
		return nil, err
	}
	return &ledgerv1.GetImportResponse{Import: m, Etag: etag.Format(imp.Version)}, nil
}

// unknown replaces pgx.ErrNoRows with the public error.
func unknown(e staging.Import, err error) (staging.Import, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return staging.Import{}, errNotFound
	}
	return e, err
}

// ListImportRows returns a page of an import's rows in the order of the file.
func (s *Imports) ListImportRows(
	ctx context.Context, req *ledgerv1.ListImportRowsRequest,
) (*ledgerv1.ListImportRowsResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	known := []string{
		staging.Ready, staging.Duplicate, staging.Matched, staging.Pending, staging.Invalid,
		staging.Skipped, staging.Booked, staging.Undone,
	}
	var problems apierr.Problems
	_, problem := page.Limit(req.Limit)
	problems.Field(problem)
	for _, status := range req.GetStatus() {
		if !slices.Contains(known, status) {
			problems.Invalid("status", "must be "+strings.Join(known, ", "))
		}
	}
	if len(req.GetN()) > maxNumbers {
		problems.Invalid("n", fmt.Sprintf("must be at most %d numbers", maxNumbers))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	owner := caller.ID(ctx)
	// The version is read before the rows, so it cannot be newer than they are.
	imp, err := unknown(staging.SelectImport(ctx, s.DB, owner, id))
	if err != nil {
		return nil, err
	}
	filter := staging.Filter{
		Statuses: slices.Compact(slices.Sorted(slices.Values(req.GetStatus()))),
		Numbers:  slices.Compact(slices.Sorted(slices.Values(req.GetN()))),
	}
	rows, pagination, err := page.List(s.cursors, page.Query[staging.Row, int32]{
		Scope: fmt.Sprintf("import rows %s %s %v %v", owner, id, filter.Statuses, filter.Numbers),
		Limit: req.Limit, Cursor: req.GetCursor(),
		Position: func(r staging.Row) int32 { return r.N },
		Size:     staging.Row.Bytes,
		Select: func(after int32, limit int) ([]staging.Row, error) {
			return staging.SelectVisible(ctx, s.DB, owner, id, filter, after, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.ListImportRowsResponse{
		Rows: staging.RowProtos(rows), Pagination: pagination, Etag: etag.Format(imp.Version),
	}, nil
}

// ListImportProfiles returns the caller's saved mappings, newest first, as many as fit into a page.
func (s *Imports) ListImportProfiles(
	ctx context.Context, _ *ledgerv1.ListImportProfilesRequest,
) (*ledgerv1.ListImportProfilesResponse, error) {
	profiles, err := staging.SelectProfiles(ctx, s.DB, caller.ID(ctx))
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.ListImportProfilesResponse{}
	for _, p := range profiles[:page.Fitting(profiles, len(profiles), staging.Profile.Bytes)] {
		m, err := p.Proto()
		if err != nil {
			return nil, err
		}
		resp.Profiles = append(resp.Profiles, m)
	}
	return resp, nil
}

// DeleteImportProfile deletes a saved mapping.
func (s *Imports) DeleteImportProfile(
	ctx context.Context, req *ledgerv1.DeleteImportProfileRequest,
) (*ledgerv1.DeleteImportProfileResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidProfileID
	}
	found, err := staging.DeleteProfile(ctx, s.DB, caller.ID(ctx), id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errProfileNotFound
	}
	return &ledgerv1.DeleteImportProfileResponse{Id: id.String()}, nil
}
