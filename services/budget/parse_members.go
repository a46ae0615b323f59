package budget

import (
	"net/mail"
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

func parseShare(req *budgetv1.ShareBudgetRequest) (offer, error) {
	var p apierr.Problems
	o := offer{email: strings.ToLower(strings.TrimSpace(req.GetEmail())), role: string(viewer)}
	if o.email == "" {
		p.Field(&apierr.Field{Name: "email", Message: "is required"})
	} else if a, err := mail.ParseAddress(o.email); err != nil || a.Address != o.email || len(o.email) > maxEmail {
		p.Field(&apierr.Field{Name: "email", Message: "must be an e-mail address"})
	}
	if req.Role != nil {
		o.role = parseRole(&p, req.GetRole())
	}
	if req.SharePercent != nil {
		o.share = parsePercent(&p, req.GetSharePercent())
	}
	return o, p.Err()
}

func parseRole(p *apierr.Problems, role string) string {
	if role != string(viewer) && role != string(editor) {
		p.Field(&apierr.Field{Name: "role", Message: "must be viewer or editor"})
	}
	return role
}

func parsePercent(p *apierr.Problems, percent string) *int32 {
	bp, err := money.ParseDecimal(percent, 2)
	if err != nil || bp <= 0 || bp > wholeBP {
		p.Field(&apierr.Field{Name: "sharePercent", Message: "must be greater than 0, at most 100, with at most two decimals"})
		return nil
	}
	return new(int32(bp))
}

// memberChange is a request to change a membership: an answer, or terms (role and share).
type memberChange struct {
	// answer is absent when the request has none.
	answer status
	role   *string
	// share replaces the member's share if setShare is true; nil removes it.
	share    *int32
	setShare bool
}

func (c memberChange) hasTerms() bool { return c.role != nil || c.setShare }

func (c memberChange) apply(m member) member {
	if c.role != nil {
		m.Role = *c.role
	}
	if c.setShare {
		m.ShareBP = c.share
	}
	return m
}

func equalShares(a, b *int32) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

func parseMemberChange(req *budgetv1.RespondToInvitationRequest) (memberChange, error) {
	var p apierr.Problems
	var c memberChange
	if req.Role != nil {
		c.role = new(parseRole(&p, req.GetRole()))
	}
	if req.SharePercent != nil {
		c.setShare = true
		if req.GetSharePercent() != "" {
			c.share = parsePercent(&p, req.GetSharePercent())
		}
	}
	if !c.hasTerms() || req.Status != nil || req.Response != nil {
		var problem *apierr.Error
		if c.answer, problem = parseAnswer(req); problem != nil {
			p.Add(problem)
		}
	}
	return c, p.Err()
}

// parseAnswer accepts either name of the field, and both when they agree.
func parseAnswer(req *budgetv1.RespondToInvitationRequest) (status, *apierr.Error) {
	answer := req.Status
	if answer == nil {
		answer = req.Response
	}
	if answer == nil || req.Response != nil && *req.Response != *answer {
		return absent, errInvalidInviteResponse
	}
	if s := status(*answer); s == accepted || s == rejected {
		return s, nil
	}
	return absent, errInvalidInviteResponse
}
