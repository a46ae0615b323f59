// Package receipts creates transactions from receipts.
//
// An upload is validated, sent to the ocr service, and split into transactions. These are stored
// together with the recognized receipt and its images in one database transaction, or returned as a
// preview. The package guarantees that the transactions add up to the printed or corrected total,
// or that none is created, and that repeating an upload with the same Idempotency-Key creates
// nothing twice. The files:
//
//   - upload.go: the request, its references and the detection of duplicate files
//   - recognize.go: the call of the ocr service, and warnings
//   - corrections.go: the fields that the user corrected, which replace those that were read
//   - receipts.go: CreateTransactionsFromReceipt, from the upload to the response. stored.go: the
//     RPCs of stored receipts
//   - rules.go: the user's rules, which run on the transactions after the split
//   - bill.go and split.go: the amounts of a receipt, and the rule that divides them into
//     transactions. If the lines do not add up to the total, there is one transaction for the total
//   - store_receipts.go: the statements
//
// Receipts implements these RPCs of LedgerService. Start reading at CreateTransactionsFromReceipt.
// A receipt is deleted with its last transaction, because package transactions calls
// posting.DeleteUnusedReceipt, or on request.
package receipts

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// maxLineDescription is the maximum length of a transaction's description, in characters.
	maxLineDescription = 1000
	// maxPayee is the maximum length of a transaction's payee, in characters.
	maxPayee = 200
	// recognizedCode is the response's code if nothing was created.
	recognizedCode = "RECEIPT_RECOGNIZED"
	// writeReserve is the part of the deadline that recognition may not use. So a recognized
	// receipt can still be stored, and a slow engine results in OCR_RESPONSE_FAILED instead of a
	// timeout.
	writeReserve = time.Second
)

// Receipts implements the RPCs of receipts.
type Receipts struct {
	*posting.Ledger
	OCR     ocrv1.OCRServiceClient
	Log     *slog.Logger
	Cursors page.Cursors
	// Files has the images that files.Store has moved there.
	Files     *files.Store
	corrected metric.Int64Counter
}

// New returns Receipts that recognize files with ocr.
func New(
	ledger *posting.Ledger, cursors page.Cursors, ocr ocrv1.OCRServiceClient, log *slog.Logger,
) (*Receipts, error) {
	corrected, err := otel.Meter("github.com/coffer-budget/coffer/services/ledger").
		Int64Counter("ocr.corrections",
			metric.WithDescription("Fields of receipts that users corrected, by field."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	return &Receipts{
		Ledger: ledger, Cursors: cursors, OCR: ocr, Log: log, corrected: corrected,
	}, nil
}

// CreateTransactionsFromReceipt recognizes a receipt and creates its transactions, all or none.
// With dryRun it returns them and creates nothing. Recognition is expensive, so a request that must
// fail for another reason is rejected before it. It takes seconds, so it does not run inside a
// database transaction, and the checks of references and duplicates are repeated when storing.
//
// A user corrects a receipt by sending the same file again with corrections (ADR 77). The ocr
// service finds its stored result by the hash of the file, so this needs no second recognition and
// no draft.
func (s *Receipts) CreateTransactionsFromReceipt(
	ctx context.Context, req *ledgerv1.CreateTransactionsFromReceiptRequest,
) (*ledgerv1.CreateTransactionsFromReceiptResponse, error) {
	call := idem.Call{Owner: caller.ID(ctx), Key: req.GetIdempotencyKey(), Request: req}
	resp := &ledgerv1.CreateTransactionsFromReceiptResponse{}
	// A repetition of a request is answered before the expensive recognition.
	if !req.GetDryRun() {
		if replayed, err := idem.Replay(ctx, s.DB, call, resp); err != nil || replayed {
			resp.Replayed = replayed
			return resp, err
		}
	}
	if err := s.Volume.Check(); err != nil {
		return nil, err
	}
	admitted, err := s.admit(ctx, req)
	if err != nil {
		return nil, err
	}
	recognized, err := s.recognize(ctx, admitted)
	if err != nil {
		return nil, err
	}
	today, err := s.Today(ctx, s.DB, admitted.owner)
	if err != nil {
		return nil, err
	}
	reading, err := s.readReceipt(recognized, admitted, today)
	if err != nil {
		return nil, err
	}
	if err := s.applyRules(ctx, &reading); err != nil {
		return nil, err
	}
	if req.GetDryRun() {
		return s.preview(ctx, reading, recognized.GetReceipts())
	}
	replayed, err := idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		return s.storeReceipt(ctx, tx, reading, resp)
	})
	resp.Replayed = replayed
	if err == nil && !replayed {
		for _, field := range reading.changed {
			s.corrected.Add(ctx, 1, metric.WithAttributes(attribute.String("field", field)))
		}
	}
	return resp, err
}

// reading is a recognized receipt with its images and the transactions to create from it, still
// without ids.
type reading struct {
	upload
	receipt      *ocrv1.Receipt
	images       [][]byte
	transactions []posting.Transaction
	// categorized reports for each transaction whether the user corrected the category of its line.
	categorized []bool
	// applied has the rules that matched, and appliedTo the number of transactions that each of
	// them matched.
	applied   []uuid.UUID
	appliedTo []int32
	changed   []string
}

// readReceipt corrects a recognized receipt and splits it into transactions. If the receipt has no
// currency, it takes the wallet's, and if it has no date, today's. Each assumption adds a warning.
func (s *Receipts) readReceipt(
	recognized *ocrv1.RecognizeResponse, admitted upload, today time.Time,
) (reading, error) {
	now := s.Now()
	found, err := admitted.partOf(recognized)
	if err != nil {
		return reading{}, err
	}
	before := recognizedFields(found)
	admitted.corrections.applyTexts(found)
	currency, printed := money.ParseCurrency(found.GetCurrency())
	if !printed {
		currency = admitted.currency
		warn(found, "CURRENCY_ASSUMED", "The currency was not found; the wallet's is used")
	}
	found.Currency = currency.Code()
	date, ok := calendar.ParseDate(found.GetDate())
	if !ok {
		date = today
		warn(found, "DATE_ASSUMED", "The date was not found; the day of the upload is used")
	}
	found.Date = date.Format(calendar.DateLayout)

	if found.GetTotal() == "" && !admitted.corrections.hasTotal() {
		return admitted.withoutTotal(found, before, currency)
	}
	unwarn(found, totalMissing)
	bill, err := admitted.correctedBill(found, currency, printed)
	if err != nil {
		return reading{}, err
	}
	shares, ok := bill.split(admitted.mode)
	if !ok {
		return reading{}, admitted.splitError(bill)
	}
	// The split is one transaction for the total in this case.
	if len(found.GetLines()) > 0 && !bill.reconciles() {
		warn(found, "LINES_NOT_RECONCILED", "The lines do not add up to the total")
	}
	changed := admitted.corrections.changed(before, found)
	if len(changed) > 0 {
		found.Recognized = before
	}
	found.ImagePages = int32(len(recognized.GetPictures()))
	out := reading{
		upload: admitted, receipt: found, images: recognized.GetPictures(), changed: changed,
	}
	for _, p := range shares {
		out.categorized = append(out.categorized, p.category != uuid.Nil)
		out.transactions = append(out.transactions, posting.Transaction{
			OwnerID: admitted.owner, WalletID: admitted.wallet,
			CategoryID:  new(cmp.Or(p.category, admitted.category)),
			AmountMinor: p.amount, Currency: currency.Code(), Description: p.description,
			Payee: payee(found.GetMerchant()), Date: date, CreatedAt: now, UpdatedAt: now,
		})
	}
	return out, nil
}

// preview returns the response of a dry run: the transactions that would be created, without ids
// and timestamps, and the receipts of a file with several.
func (s *Receipts) preview(
	ctx context.Context, reading reading, all []*ocrv1.Receipt,
) (*ledgerv1.CreateTransactionsFromReceiptResponse, error) {
	earlier, err := earlierReceipt(ctx, s.DB, reading.upload)
	if err != nil {
		return nil, err
	}
	warnDuplicate(reading.receipt, earlier)
	resp := &ledgerv1.CreateTransactionsFromReceiptResponse{
		Code: recognizedCode, Receipt: reading.receipt, Receipts: all,
	}
	for _, t := range reading.transactions {
		m := t.Proto()
		m.Id, m.CreatedAt, m.UpdatedAt = "", "", ""
		resp.Transactions = append(resp.Transactions, m)
	}
	return resp, nil
}

// storeReceipt inserts the receipt, its images and its transactions, and fills the response. It may
// run twice because InTx retries after a deadlock, so it does not change reading. The lock of the
// file precedes the owner's lock, which InsertTransactions takes (see posting, ownerLock). Under
// the lock, the check for duplicates of admit is repeated.
func (s *Receipts) storeReceipt(
	ctx context.Context, tx pgx.Tx, reading reading,
	resp *ledgerv1.CreateTransactionsFromReceiptResponse,
) error {
	if err := lockReceiptFile(ctx, tx, reading.owner, reading.hash); err != nil {
		return err
	}
	earlier, err := earlierReceipt(ctx, tx, reading.upload)
	if err != nil {
		return err
	}
	id := s.NewID()
	resp.Receipt = proto.CloneOf(reading.receipt)
	resp.Receipt.Id = id.String()
	warnDuplicate(resp.Receipt, earlier)
	content, err := proto.Marshal(resp.GetReceipt())
	if err != nil {
		return fmt.Errorf("encoding a receipt: %w", err)
	}
	if err := insertReceipt(ctx, tx, receipt{
		ID: id, OwnerID: reading.owner, FileHash: reading.hash, Content: content,
		CreatedAt: s.Now(),
	}); err != nil {
		return err
	}
	if err := insertReceiptImages(ctx, tx, reading.owner, id, reading.images); err != nil {
		return err
	}
	transactions := slices.Clone(reading.transactions)
	for i := range transactions {
		transactions[i].ID, transactions[i].ReceiptID = s.NewID(), &id
	}
	if err := s.recordRules(ctx, tx, reading, transactions); err != nil {
		return err
	}
	resp.Transactions = posting.Protos(transactions)
	written, err := s.InsertTransactions(ctx, tx, transactions, resp.GetTransactions())
	if err != nil {
		return err
	}
	for _, t := range transactions {
		if !written[t.ID] {
			return posting.NotInserted(ctx, tx, t)
		}
	}
	return nil
}
