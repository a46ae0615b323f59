package transactions

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/text"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// setPayee accepts up to 200 characters, and an empty text.
func (c *changes) setPayee(p *apierr.Problems, s string) {
	payee, problem := text.Payee("payee", s)
	p.Field(problem)
	c.payee = &payee
}

// setNotes accepts up to 4000 characters, and an empty text.
func (c *changes) setNotes(p *apierr.Problems, s string) {
	notes, problem := text.Notes("notes", s)
	p.Field(problem)
	c.notes = &notes
}

// setTags accepts the names of request.ParseTags.
func (c *changes) setTags(p *apierr.Problems, names []string) {
	tags := request.ParseTags(p, names)
	c.tags = &tags
}

// setExternalID accepts the ids of request.ParseExternalID. The index transactions_external decides
// whether it is unique in the wallet.
func (c *changes) setExternalID(p *apierr.Problems, s string) {
	id, problem := request.ParseExternalID(s)
	p.Field(problem)
	c.externalID = &id
}

// applyDetails sets the fields of t that depend on no other field. posting.UseTags sets the tags
// later.
func (c changes) applyDetails(t *posting.Transaction) {
	if c.payee != nil {
		t.Payee = *c.payee
	}
	if c.notes != nil {
		t.Notes = *c.notes
	}
	if c.tags != nil {
		t.TagNames = *c.tags
	}
	if c.externalID != nil {
		t.ExternalID = c.externalID
	}
}
