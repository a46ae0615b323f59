package transactions

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// origin holds a list's filters by what created a transaction and by what belongs to it. Absent filters are zero. An id that is unknown
// or another user's matches nothing.
type origin struct {
	externalID          string
	importID, receiptID *uuid.UUID
	attached            *bool
}

// parseOrigin validates these filters.
func parseOrigin(p *apierr.Problems, req *ledgerv1.ListTransactionsRequest) origin {
	o := origin{attached: req.HasAttachments}
	if req.ExternalId != nil {
		id, problem := parseExternalID(req.GetExternalId())
		p.Field(problem)
		o.externalID = id
	}
	if req.ImportId != nil {
		o.importID = request.ParseReference(p, "importId", req.GetImportId(), errInvalidImportID)
	}
	if req.ReceiptId != nil {
		o.receiptID = request.ParseReference(p, "receiptId", req.GetReceiptId(), errInvalidReceiptID)
	}
	return o
}

// parseExternalID accepts 1 to maxExternalID characters.
func parseExternalID(s string) (string, *apierr.Field) {
	id, problem := text.Description("externalId", s)
	switch {
	case problem != nil:
	case id == "":
		problem = &apierr.Field{Name: "externalId", Message: "must not be blank"}
	case len([]rune(id)) > maxExternalID:
		problem = &apierr.Field{Name: "externalId", Message: fmt.Sprintf("must be at most %d characters", maxExternalID)}
	}
	return id, problem
}

// indexed reports whether an index finds the rows of one of these filters.
func (o origin) indexed() bool {
	return o.externalID != "" || o.importID != nil || o.receiptID != nil || o.attached != nil && *o.attached
}

// unattached reports whether the list has the filter by transactions without attachments, which no index supports.
func (o origin) unattached() bool { return o.attached != nil && !*o.attached }

// addOrigin adds these filters. An external id is unique in a wallet, so the index transactions_external finds it if the wallets are named.
// A list of transactions with attachments by date reads the index transactions_attached, unless another filter selects a
// different one.
func (c *conditions) addOrigin(l transactionList) {
	if l.externalID != "" {
		c.add(&c.filters, "t.wallet_id = ANY(ARRAY(SELECT w.id FROM wallets w WHERE w.owner_id = %s))", value{l.owner, "$%d::uuid"})
		c.add(&c.filters, "t.external_id = %s", value{l.externalID, "$%d::text"})
	}
	if l.importID != nil {
		c.add(&c.filters, "t.import_id = %s", value{*l.importID, "$%d::uuid"})
	}
	if l.receiptID != nil {
		c.add(&c.filters, "t.receipt_id = %s", value{*l.receiptID, "$%d::uuid"})
	}
	switch {
	case l.unattached():
		c.add(&c.filters, "t.attachment_count = 0")
	case l.attached == nil:
	case l.byAmount() || len(l.wallets) == 1 || len(l.categories) == 1 || l.kind == posting.Transfer:
		c.add(&c.filters, "t.attachment_count > 0")
	default:
		c.add(&c.bounds, "t.attachment_count > 0")
	}
}
