package ledger

import (
	"context"
	"strings"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// useImportedTransfers imports a row of which a rule makes a transfer, and undoes the import.
func (s *isolated) useImportedTransfers(ctx context.Context) {
	rule, err := s.rules.CreateRule(ctx, &ledgerv1.CreateRuleRequest{
		Name: "Savings", Conditions: []*ledgerv1.RuleCondition{{
			Field: "payee", Op: "is", Values: []string{"Savings"},
		}},
		Actions: []*ledgerv1.RuleAction{{Kind: "transferTo", Value: s.wallets[1]}},
	})
	s.record(rule, err)
	m := s.upload(ctx, s.wallets[0], "Date,Payee,Amount,Currency\n2026-02-03,Savings,-11.00,EUR\n")
	s.commit(ctx, m)
	s.record(s.imports.UndoImport(ctx, &ledgerv1.UndoImportRequest{Id: m.GetId()}))
	s.imports.Jobs.RunQueued(ctx)
	s.record(s.imports.ListImportRows(ctx, &ledgerv1.ListImportRowsRequest{Id: m.GetId()}))
	s.record(s.rules.DeleteRule(ctx, &ledgerv1.DeleteRuleRequest{Id: rule.GetRule().GetId()}))
}

// books is a file with an account and the ids of its rows.
const books = "Account;Date;Payee;Amount;Currency;Transaction ID\n" +
	"DE04;2026-02-03;Florist;-3.60;EUR;x1\nDE04;2026-02-04;Florist;-4.60;EUR;x2\n"

// useBooks imports a file whose account becomes a wallet, and the same file again, of which it
// books a row a second time.
func (s *isolated) useBooks(ctx context.Context) {
	imp := s.upload(ctx, "", books)
	s.record(s.imports.UpdateImport(ctx, &ledgerv1.UpdateImportRequest{
		Id: imp.GetId(), Accounts: []*ledgerv1.ImportAccount{{
			Key: imp.GetAccounts()[0].GetKey(), Create: true,
		}},
		Defaults: &ledgerv1.ImportDefaultsChange{ExpenseCategoryId: &s.categories[0]},
	}))
	s.commit(ctx, imp)
	again := s.upload(ctx, "", books)
	s.record(s.imports.UpdateImport(ctx, &ledgerv1.UpdateImportRequest{
		Id:       again.GetId(),
		Defaults: &ledgerv1.ImportDefaultsChange{ExpenseCategoryId: &s.categories[0]},
	}))
	s.record(s.imports.UpdateImportRows(ctx, &ledgerv1.UpdateImportRowsRequest{
		Id: again.GetId(), Rows: []*ledgerv1.ImportRowChange{{N: 2, Action: new("book")}},
	}))
	s.commit(ctx, again)
}

// useReconciled imports an export with a reconciliation of a new wallet, and undoes the import.
func (s *isolated) useReconciled(ctx context.Context) {
	m := s.upload(ctx, "", `{"wallet":{"id":"w","name":"Vault","currency":"EUR","balance":2}}
{"reconciliation":{"id":"r","walletId":"w","currency":"EUR","date":"2026-02-01","balance":2,`+
		`"locked":1,"differs":false}}
{"transaction":{"id":"t","amount":2,"currency":"EUR","type":"adjustment","walletId":"w",`+
		`"date":"2026-02-01T00:00:00.000Z"},"reconciliationId":"r"}
`)
	s.commit(ctx, m)
	s.record(s.imports.UndoImport(ctx, &ledgerv1.UndoImportRequest{Id: m.GetId()}))
	s.imports.Jobs.RunQueued(ctx)
	s.record(s.imports.ListImportRows(ctx, &ledgerv1.ListImportRowsRequest{Id: m.GetId()}))
}

// commit commits an import and lists its rows.
func (s *isolated) commit(ctx context.Context, m *ledgerv1.Import) {
	s.record(s.imports.CommitImport(ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()}))
	s.imports.Jobs.RunQueued(ctx)
	s.record(s.imports.ListImportRows(ctx, &ledgerv1.ListImportRowsRequest{Id: m.GetId()}))
}

// useSides imports a transfer that an earlier file of one of its accounts has created, with another
// text. The rows of both sides match its legs.
func (s *isolated) useSides(ctx context.Context) {
	const side = "!Account\nNReserve\n^\n!Type:Bank\nD02/13/2026\nT12.00\nPFirst\nL[Main]\n^\n"
	both := strings.Replace(side, "First", "Second", 1) +
		"!Account\nNMain\n^\n!Type:Bank\nD02/13/2026\nT-12.00\nL[Reserve]\n^\n"
	for _, file := range []string{side, both} {
		m := s.upload(ctx, "", file)
		s.record(s.imports.UpdateImport(ctx, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Accounts: []*ledgerv1.ImportAccount{
				{Key: "Main", WalletId: s.wallets[0]}, {Key: "Reserve", WalletId: s.wallets[1]},
			},
			Defaults: &ledgerv1.ImportDefaultsChange{Currency: new("EUR")},
		}))
		s.commit(ctx, m)
	}
}
