package export

import (
	"fmt"
	"io"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/restjson"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// jsonEncoder writes a JSON object per line: {"wallet": ...}, {"category": ...}, {"reconciliation":
// ...} and {"transaction": ...}, with the objects of the API. The line of a reconciled transaction
// also has the id of its reconciliation, as "reconciliationId". The format coffer of imports reads
// them (package formats), so both must change together.
type jsonEncoder struct {
	out io.Writer
	// line is reused for each line.
	line []byte
}

func newJSON(w io.Writer, _ *ledgerv1.ExportTransactionsRequest) encoder {
	return &jsonEncoder{out: w}
}

func (e *jsonEncoder) begin(books books) error {
	for _, w := range books.wallets {
		if !w.Selected {
			continue
		}
		if err := e.write("wallet", w.shown, nil); err != nil {
			return err
		}
	}
	for _, c := range books.categories {
		if err := e.write("category", c.shown, nil); err != nil {
			return err
		}
	}
	if books.reconciliations == nil {
		return nil
	}
	return books.reconciliations(func(r *ledgerv1.Reconciliation) error {
		return e.write("reconciliation", r, nil)
	})
}

func (e *jsonEncoder) add(t entry) error {
	return e.write("transaction", t.Proto(), t.ReconciliationID)
}

func (e *jsonEncoder) end() error { return nil }

// write writes the line of an object. reconciliation is nil unless one locks the object.
func (e *jsonEncoder) write(kind string, m proto.Message, reconciliation *uuid.UUID) error {
	line, err := restjson.Append(append(append(append(e.line[:0], `{"`...), kind...), `":`...), m)
	if err != nil {
		return err
	}
	if reconciliation != nil {
		line = fmt.Appendf(line, `,"reconciliationId":"%s"`, reconciliation)
	}
	e.line = append(line, "}\n"...)
	_, err = e.out.Write(e.line)
	return err
}
