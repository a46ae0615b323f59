package imports

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
)

// detailed returns the details of an import.
func (e entry) detailed() (*ledgerv1.Import, error) {
	details := &ledgerv1.Import{}
	if err := protojson.Unmarshal(e.Details, details); err != nil {
		return nil, fmt.Errorf("decoding the details of import %s: %w", e.ID, err)
	}
	details.Format = e.Format
	if details.Defaults == nil {
		details.Defaults = &ledgerv1.ImportDefaults{}
	}
	return details, nil
}

// describe stores the details.
func (e *entry) describe(details *ledgerv1.Import) error {
	encoded, err := protojson.Marshal(&ledgerv1.Import{
		Mapping: details.GetMapping(), Accounts: details.GetAccounts(), Categories: details.GetCategories(), Defaults: details.GetDefaults(),
		Warnings: details.GetWarnings(), Heading: details.GetHeading(),
	})
	if err != nil {
		return fmt.Errorf("encoding the details of import %s: %w", e.ID, err)
	}
	e.Details = encoded
	return nil
}

// proto returns e as the API shows it.
func (e entry) proto() (*ledgerv1.Import, error) {
	m, err := e.detailed()
	if err != nil {
		return nil, err
	}
	m.Id, m.FileName, m.Size, m.Sha256, m.Status = e.ID.String(), e.FileName, e.Size, hex.EncodeToString(e.SHA256), e.Status
	m.Counts = &ledgerv1.ImportCounts{
		Total: e.Ready + e.Duplicate + e.Matched + e.Invalid + e.Skipped + e.Booked + e.Undone, Ready: e.Ready, Duplicate: e.Duplicate,
		Matched: e.Matched, Invalid: e.Invalid, Skipped: e.Skipped, Booked: e.Booked, Undone: e.Undone,
	}
	if e.Status != preview {
		m.Progress = &restv1.Job{Status: e.Status, Done: e.JobDone, Total: e.JobTotal, Problem: e.Problem}
	}
	m.FirstDate, m.LastDate = day(e.FirstDate), day(e.LastDate)
	m.CreatedAt, m.UpdatedAt = calendar.FormatTime(e.CreatedAt), calendar.FormatTime(e.UpdatedAt)
	return m, nil
}

// day returns the text of a civil date, or an empty text for nil.
func day(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(calendar.DateLayout)
}

// proto returns r as the API shows it.
func (r *row) proto() *ledgerv1.ImportRow {
	m := &ledgerv1.ImportRow{
		N: r.N, Line: r.Line, Status: r.Status, Date: day(r.Date), Currency: r.BookedCurrency, Payee: r.payee(), Description: r.description(),
		Notes: r.notes(), Tags: r.tags(), ExternalId: r.ExternalID, Account: r.Account, CategoryFrom: r.CategoryFrom, Category: r.Category,
		Problem: r.Problem, Cells: r.Cells,
	}
	switch {
	case r.AmountMinor != nil:
		m.Amount = new(money.CurrencyOf(r.BookedCurrency).Format(*r.AmountMinor))
	case r.Amount != "" && r.FileProblem == "":
		m.Amount = &r.Amount
	}
	if r.CategoryID != nil {
		m.CategoryId = r.CategoryID.String()
	}
	for _, s := range r.Splits {
		m.Splits = append(m.Splits, &ledgerv1.ImportSplit{Amount: s.Amount, Category: s.Category, Description: s.Description})
	}
	if r.TransferWalletID != nil {
		m.TransferWalletId = r.TransferWalletID.String()
	}
	if r.DuplicateOf != nil {
		m.DuplicateOf = r.DuplicateOf.String()
	}
	if r.TransactionID != nil {
		m.TransactionId = r.TransactionID.String()
	}
	return m
}

// rowProtos returns rows as the API shows them.
func rowProtos(rows []row) []*ledgerv1.ImportRow {
	out := make([]*ledgerv1.ImportRow, len(rows))
	for i := range rows {
		out[i] = rows[i].proto()
	}
	return out
}

// toMapping returns the mapping of a request or a stored import.
func toMapping(m *ledgerv1.ImportMapping) *formats.Mapping {
	out := &formats.Mapping{
		Format: m.GetFormat(), Delimiter: m.GetDelimiter(), Encoding: m.GetEncoding(), SkipRows: int(m.GetSkipRows()), Header: m.GetHeader(),
		DateLayout: m.GetDateLayout(), DecimalMark: m.GetDecimalMark(), AmountMode: m.GetAmountMode(), Invert: m.GetInvert(),
		Negative: m.GetNegative(), Currency: m.GetCurrency(), Width: int(m.GetWidth()),
	}
	for _, c := range m.GetColumns() {
		out.Columns = append(out.Columns, formats.Column{Index: int(c.GetIndex()), Field: c.GetField()})
	}
	return out
}

// fromMapping returns a mapping as the API shows it.
func fromMapping(m *formats.Mapping) *ledgerv1.ImportMapping {
	out := &ledgerv1.ImportMapping{
		Format: m.Format, Delimiter: m.Delimiter, Encoding: m.Encoding, SkipRows: int32(m.SkipRows), Header: m.Header,
		DateLayout: m.DateLayout, DecimalMark: m.DecimalMark, AmountMode: m.AmountMode, Invert: m.Invert, Negative: m.Negative, Currency: m.Currency,
		Width: int32(m.Width),
	}
	for _, c := range m.Columns {
		out.Columns = append(out.Columns, &ledgerv1.ImportColumn{Index: int32(c.Index), Field: c.Field})
	}
	return out
}

// proto returns p as the API shows it.
func (p profile) proto() (*ledgerv1.ImportProfile, error) {
	var m formats.Mapping
	if err := json.Unmarshal(p.Mapping, &m); err != nil {
		return nil, fmt.Errorf("decoding import profile %s: %w", p.ID, err)
	}
	return &ledgerv1.ImportProfile{
		Id: p.ID.String(), Heading: p.Heading, Mapping: fromMapping(&m), UpdatedAt: calendar.FormatTime(p.UpdatedAt),
	}, nil
}
