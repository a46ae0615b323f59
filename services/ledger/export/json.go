package export

import (
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/restjson"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// jsonEncoder writes a JSON object per line: {"wallet": ...}, {"category": ...} and {"transaction":
// ...}, with the objects of the API. The format coffer of imports reads them (package formats), so
// both must change together.
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
		if err := e.write("wallet", w.shown); err != nil {
			return err
		}
	}
	for _, c := range books.categories {
		if err := e.write("category", c.shown); err != nil {
			return err
		}
	}
	return nil
}

func (e *jsonEncoder) add(t entry) error { return e.write("transaction", t.Proto()) }

func (e *jsonEncoder) end() error { return nil }

func (e *jsonEncoder) write(kind string, m proto.Message) error {
	line, err := restjson.Append(append(append(append(e.line[:0], `{"`...), kind...), `":`...), m)
	if err != nil {
		return err
	}
	e.line = append(line, "}\n"...)
	_, err = e.out.Write(e.line)
	return err
}
