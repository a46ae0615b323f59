// Package settings serves the preferences that a user has on all devices: the time zone, the first
// day of the week, the language, the base currency, and the wallet and category of new
// transactions. The time zone decides which day is today, also in the ledger and in budget (ADR
// 104). The first day of the week is for calendars and charts of clients. Clients use the others
// for display and for new entries.
//
// There is one row per owner. The first change inserts it; until then, the defaults apply, with
// version 0. Deleting a default wallet or category also removes it from the settings, and a merge
// replaces it (package accounts does both, in the same statement).
//
// settings.go has the RPCs GetSettings and UpdateSettings. store_settings.go has the SQL; Select is
// exported for package sync.
package settings

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

var errInvalidTimeZone = apierr.New(restv1.Reason_INVALID_TIME_ZONE)

// Server implements SettingsService.
type Server struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeSettingsServiceServer

	*posting.Ledger
}

var _ ledgerv1.SettingsServiceServer = (*Server)(nil)

// GetSettings returns the caller's settings, or the defaults.
func (s *Server) GetSettings(
	ctx context.Context, _ *ledgerv1.GetSettingsRequest,
) (*ledgerv1.GetSettingsResponse, error) {
	row, err := Select(ctx, s.DB, caller.ID(ctx))
	if err != nil {
		return nil, err
	}
	return &ledgerv1.GetSettingsResponse{Settings: row.Proto(), Etag: etag.Format(row.Version)}, nil
}

// UpdateSettings changes the fields that the request sets. An empty value removes the locale, the
// base currency or a default.
//
// Errors: EMPTY_UPDATE, INVALID_TIME_ZONE, VERSION_MISMATCH if If-Match has another version, and
// the errors of unknown wallets and categories. Version 0 in If-Match matches settings that were
// never changed.
func (s *Server) UpdateSettings(
	ctx context.Context, req *ledgerv1.UpdateSettingsRequest,
) (*ledgerv1.UpdateSettingsResponse, error) {
	var problems apierr.Problems
	parsed, err := parseChanges(&problems, req)
	if err != nil {
		return nil, err
	}
	owner := caller.ID(ctx)
	resp := &ledgerv1.UpdateSettingsResponse{}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		// A row that does not exist cannot be locked. The owner's row is locked instead, which also
		// serializes two first changes.
		if err := posting.ShareOwner(ctx, tx, owner); err != nil {
			return err
		}
		row, err := Select(ctx, tx, owner)
		if err != nil {
			return err
		}
		if err := parsed.check(ctx, tx, owner, problems); err != nil {
			return err
		}
		if !etag.Matches(req.GetIfMatch(), row.Version) {
			return apierr.VersionMismatch
		}
		parsed.apply(&row)
		row.Version++
		row.UpdatedAt = s.Now()
		if err := upsert(ctx, tx, row); err != nil {
			return err
		}
		resp.Settings, resp.Etag = row.Proto(), etag.Format(row.Version)
		return s.Publish(ctx, tx, owner,
			&ledgerv1.SettingsUpdated{OwnerId: owner.String(), Settings: row.Proto()})
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// changes holds the fields that a request sets; the others are nil. wallet and category are
// uuid.Nil if the request removes them.
type changes struct {
	timeZone, weekStart, locale, baseCurrency *string
	wallet, category                          *uuid.UUID
}

// language matches a BCP 47 tag of a language with an optional script, region and variants. It does
// not know which subtags exist.
var language = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

func parseChanges(problems *apierr.Problems, req *ledgerv1.UpdateSettingsRequest) (changes, error) {
	if err := apierr.CheckChange(req); err != nil {
		return changes{}, err
	}
	parsed := changes{
		timeZone: req.TimeZone, weekStart: req.WeekStart, locale: req.Locale,
		baseCurrency: req.BaseCurrency,
	}
	if parsed.timeZone != nil && !isTimeZone(*parsed.timeZone) {
		problems.Add(errInvalidTimeZone.With("timeZone",
			"must be a name of the IANA time zone database, such as Europe/Berlin"))
	}
	if parsed.weekStart != nil &&
		!slices.Contains([]string{"monday", "sunday", "saturday"}, *parsed.weekStart) {
		problems.Invalid("weekStart", "must be monday, sunday or saturday")
	}
	if parsed.locale != nil && *parsed.locale != "" &&
		(len(*parsed.locale) > 35 || !language.MatchString(*parsed.locale)) {
		problems.Invalid("locale",
			"must be a BCP 47 language tag of at most 35 characters, such as de-CH")
	}
	if parsed.baseCurrency != nil && *parsed.baseCurrency != "" {
		currency := request.ParseCurrency(problems, "baseCurrency", *parsed.baseCurrency)
		parsed.baseCurrency = new(currency.Code())
	}
	parsed.wallet = parseDefault(problems, "defaultWalletId", req.DefaultWalletId,
		request.ErrInvalidWalletID)
	parsed.category = parseDefault(problems, "defaultCategoryId", req.DefaultCategoryId,
		request.ErrInvalidCategoryID)
	return parsed, nil
}

// isTimeZone reports whether s names a time zone. time.LoadLocation also accepts an empty name and
// Local, which mean UTC and the zone of the server. They are not names of the database.
func isTimeZone(s string) bool {
	if s == "" || s == "Local" || len(s) > 64 {
		return false
	}
	_, err := time.LoadLocation(s)
	return err == nil
}

// parseDefault parses the id of a default. It returns uuid.Nil for an empty one, which removes the
// default.
func parseDefault(p *apierr.Problems, field string, s *string, malformed *apierr.Error) *uuid.UUID {
	switch {
	case s == nil:
		return nil
	case *s == "":
		return new(uuid.Nil)
	}
	return request.ParseReference(p, field, *s, malformed)
}

// check returns the problems of a request as one error. It adds a problem if the wallet or
// a category is not the owner's.
func (c changes) check(
	ctx context.Context, q pg.Querier, owner uuid.UUID, problems apierr.Problems,
) error {
	var wallets, categories []uuid.UUID
	if c.wallet != nil && *c.wallet != uuid.Nil {
		wallets = append(wallets, *c.wallet)
	}
	if c.category != nil && *c.category != uuid.Nil {
		categories = append(categories, *c.category)
	}
	owned, err := request.SelectOwned(ctx, q, owner, wallets, categories)
	if err != nil {
		return err
	}
	owned.CheckLists(&problems, "defaultWalletId", wallets, "defaultCategoryId", categories)
	return problems.Err()
}

func (c changes) apply(r *Row) {
	request.Set(&r.TimeZone, c.timeZone)
	request.Set(&r.WeekStart, c.weekStart)
	request.Set(&r.Locale, c.locale)
	request.Set(&r.BaseCurrency, c.baseCurrency)
	setDefault(&r.DefaultWalletID, c.wallet)
	setDefault(&r.DefaultCategoryID, c.category)
}

// setDefault sets a default unless value is nil, and removes it if value is uuid.Nil.
func setDefault(field **uuid.UUID, value *uuid.UUID) {
	switch {
	case value == nil:
	case *value == uuid.Nil:
		*field = nil
	default:
		*field = value
	}
}

// Proto returns r as the API shows it.
func (r Row) Proto() *ledgerv1.Settings {
	message := &ledgerv1.Settings{
		TimeZone: r.TimeZone, WeekStart: r.WeekStart, Locale: r.Locale,
		BaseCurrency: r.BaseCurrency,
	}
	if r.DefaultWalletID != nil {
		message.DefaultWalletId = r.DefaultWalletID.String()
	}
	if r.DefaultCategoryID != nil {
		message.DefaultCategoryId = r.DefaultCategoryID.String()
	}
	if r.Version > 0 {
		message.UpdatedAt = calendar.FormatTime(r.UpdatedAt)
	}
	return message
}
