package transactions

import "github.com/coffer-budget/coffer/services/ledger/posting"

// indexed reports whether an index finds the rows of one of the filters of request.Origin.
func (l transactionList) indexed() bool {
	return l.ExternalID != "" || l.ImportID != nil || l.ReceiptID != nil || l.Attached != nil && *l.Attached
}

// unattached reports whether the list has the filter by transactions without attachments, which no
// index supports.
func (l transactionList) unattached() bool { return l.Attached != nil && !*l.Attached }

// addOrigin adds the filters of request.Origin. An external id is unique in a wallet, so the index
// transactions_external finds it if the wallets are named. A list of transactions with attachments
// by date reads the index transactions_attached, unless another filter selects a different one.
func (c *conditions) addOrigin(l transactionList) {
	if l.ExternalID != "" {
		c.add(&c.filters, "t.wallet_id = ANY(ARRAY(SELECT w.id FROM wallets w WHERE w.owner_id = %s))", value{l.owner, "$%d::uuid"})
		c.add(&c.filters, "t.external_id = %s", value{l.ExternalID, "$%d::text"})
	}
	if l.ImportID != nil {
		c.add(&c.filters, "t.import_id = %s", value{*l.ImportID, "$%d::uuid"})
	}
	if l.ReceiptID != nil {
		c.add(&c.filters, "t.receipt_id = %s", value{*l.ReceiptID, "$%d::uuid"})
	}
	switch {
	case l.unattached():
		c.add(&c.filters, "t.attachment_count = 0")
	case l.Attached == nil:
	case l.byAmount() || len(l.wallets) == 1 || len(l.categories) == 1 || l.kind == posting.Transfer:
		c.add(&c.filters, "t.attachment_count > 0")
	default:
		c.add(&c.bounds, "t.attachment_count > 0")
	}
}
