package posting_test

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// importWrites are the jobs of imports, which write their rows in chunks. One row of the committed
// files has the amount and the day of food.
var importWrites = []request{
	{name: "import", write: func(h holdings) error {
		return h.commit(h.uploaded)
	}, prepare: func(t require.TestingT, h *holdings) {
		h.uploaded = h.upload(t, "-7.00", "-8.00", "9.00")
	}},
	{name: "import with a transfer", write: func(h holdings) error {
		return h.commit(h.ruled)
	}, prepare: func(t require.TestingT, h *holdings) {
		h.ruled = h.uploadTransfer(t)
	}},
	{name: "import with details", write: func(h holdings) error {
		return h.commit(h.detailed)
	}, prepare: func(t require.TestingT, h *holdings) {
		h.detailed = h.uploadDetails(t)
	}},
	{name: "import undone", write: func(h holdings) error {
		return h.undo(h.undone)
	}, prepare: func(t require.TestingT, h *holdings) {
		h.undone = h.upload(t, "-70.00", "-60.00", "80.00")
		require.NoError(t, h.commit(h.undone))
	}},
	{name: "import with a transfer undone", write: func(h holdings) error {
		return h.undo(h.ruledUndone)
	}, prepare: func(t require.TestingT, h *holdings) {
		h.ruledUndone = h.uploadTransfer(t)
		require.NoError(t, h.commit(h.ruledUndone))
	}},
	{name: "import with details undone", write: func(h holdings) error {
		return h.undo(h.detailedUndone)
	}, prepare: func(t require.TestingT, h *holdings) {
		h.detailedUndone = h.uploadDetails(t)
		require.NoError(t, h.commit(h.detailedUndone))
	}},
	{name: "import deleted", write: func(h holdings) error {
		_, err := h.imports.DeleteImport(h.Ctx, &ledgerv1.DeleteImportRequest{Id: h.discarded})
		if err == nil {
			h.imports.Jobs.RunQueued(h.Ctx)
		}
		return err
	}, prepare: func(t require.TestingT, h *holdings) {
		if h.discarded != "" {
			return
		}
		h.discarded = h.upload(t, "-71.00", "-61.00", "81.00")
		require.NoError(t, h.commit(h.discarded))
	}},
}

// upload uploads a file with a row for each amount, and returns the id of the import.
func (h holdings) upload(t require.TestingT, amounts ...string) string {
	file := "Date,Amount,Description\n"
	for i, amount := range amounts {
		file += fmt.Sprintf("2026-03-15,%s,Shop %d\n", amount, i)
	}
	return h.uploadFile(t, file)
}

// uploadTransfer uploads a file with a row that a rule makes a transfer. Its other leg is income,
// which other writes match, change or recategorize.
func (h holdings) uploadTransfer(t require.TestingT) string {
	_, err := h.rules.CreateRule(h.Ctx, &ledgerv1.CreateRuleRequest{
		Name: "Bank",
		Conditions: []*ledgerv1.RuleCondition{{
			Field: "description", Op: "is", Values: []string{"Shop 1"},
		}},
		Actions: []*ledgerv1.RuleAction{{Kind: "transferTo", Value: h.otherWallet.String()}},
	})
	require.NoError(t, err)
	id := h.upload(t, "-70.00", "-7.00")
	// Without the action, the row would match food.
	_, err = h.imports.UpdateImportRows(h.Ctx, &ledgerv1.UpdateImportRowsRequest{
		Id: id, Rows: []*ledgerv1.ImportRowChange{{N: 2, Action: new("book")}},
	})
	require.NoError(t, err)
	return id
}

// uploadDetails uploads a file with external ids and new tags. Its first row matches food, which
// gets the payee and the external id. Its last row replaces a pending payment.
func (h holdings) uploadDetails(t require.TestingT) string {
	pending := h.uploadMapped(t, "2026-03-14,-73.00,Station,,bank 3,pending\n")
	_, err := h.imports.UpdateImportRows(h.Ctx, &ledgerv1.UpdateImportRowsRequest{
		Id: pending, Rows: []*ledgerv1.ImportRowChange{{N: 2, Action: new("book")}},
	})
	require.NoError(t, err)
	require.NoError(t, h.commit(pending))
	return h.uploadMapped(t, "2026-03-15,-7.00,Shop,,bank 1,\n"+
		"2026-03-15,-72.00,Shop,\"Trip,Journey\",bank 2,\n2026-03-16,-75.50,Station,,bank 3,\n")
}

// uploadMapped uploads a CSV file with the rows, and assigns its columns.
func (h holdings) uploadMapped(t require.TestingT, rows string) string {
	return h.uploadFile(t, "Date,Amount,Payee,Tags,Id,Status\n"+rows,
		"date", "amount", "payee", "tags", "externalId", "status")
}

// uploadFile uploads a CSV file, and returns the id of the import. One update assigns the columns,
// if there are fields, and the categories, because a test needs hundreds of imports.
func (h holdings) uploadFile(t require.TestingT, file string, fields ...string) string {
	form := &ledgerv1.CreateImportRequest{
		WalletId: h.Wallet.String(),
		Header:   &restv1.FileHeader{FileName: "statement.csv"},
	}
	stream := fixture.NewUpload(h.Ctx, form, []byte(file))
	require.NoError(t, h.imports.CreateImport(stream))
	imp := stream.Response.GetImport()
	update := &ledgerv1.UpdateImportRequest{
		Id: imp.GetId(),
		Defaults: &ledgerv1.ImportDefaultsChange{
			WalletId: new(h.Wallet.String()), ExpenseCategoryId: new(h.Category.String()),
			IncomeCategoryId: new(h.otherCategory.String()),
		},
	}
	if len(fields) > 0 {
		update.Mapping = imp.GetMapping()
		update.Mapping.Columns = nil
	}
	for i, field := range fields {
		update.Mapping.Columns = append(update.Mapping.Columns,
			&ledgerv1.ImportColumn{Index: int32(i), Field: field})
	}
	_, err := h.imports.UpdateImport(h.Ctx, update)
	require.NoError(t, err)
	return imp.GetId()
}

// commit commits an import.
func (h holdings) commit(id string) error {
	_, err := h.imports.CommitImport(h.Ctx, &ledgerv1.CommitImportRequest{Id: id})
	return h.finish(id, err)
}

// undo undoes an import.
func (h holdings) undo(id string) error {
	_, err := h.imports.UndoImport(h.Ctx, &ledgerv1.UndoImportRequest{Id: id})
	return h.finish(id, err)
}

// finish runs the queued jobs. A job that another write made impossible ends with a public error.
// If the other write of the pair runs the job, it has not ended yet: requireEnded checks that
// later.
func (h holdings) finish(id string, err error) error {
	if err != nil {
		return err
	}
	h.imports.Jobs.RunQueued(h.Ctx)
	resp, err := h.imports.GetImport(h.Ctx, &ledgerv1.GetImportRequest{Id: id})
	if err == nil && resp.GetImport().GetStatus() == "failed" {
		return apierr.New(restv1.Reason_IMPORT_NOT_READY)
	}
	return err
}

// requireEnded requires that the jobs of the imports and of the rule have ended.
func (h holdings) requireEnded(t require.TestingT, pair string) {
	if h.applied != "" {
		// A worker skips a job whose row the other write has locked, until it polls again.
		h.rules.Jobs.RunQueued(h.Ctx)
		resp, err := h.rules.GetRule(h.Ctx, &ledgerv1.GetRuleRequest{Id: h.applied})
		if e := apierr.From(err); e == nil || e.Reason != restv1.Reason_RULE_NOT_FOUND.String() {
			require.NoError(t, err)
			require.Contains(t, []string{"done", "failed", "undone"},
				resp.GetRule().GetProgress().GetStatus(), pair)
		}
	}
	var unfinished int
	err := h.DB.QueryRow(h.Ctx, `
		SELECT count(*)
		FROM imports
		WHERE owner_id = $1
			AND status IN ('updating', 'queued', 'running', 'undoing', 'deleting')`,
		h.ID).Scan(&unfinished)
	require.NoError(t, err)
	require.Zero(t, unfinished, "%s: jobs of imports have not ended", pair)
}
