// Package ocr turns receipt files into structured receipts. It owns the stored results of files that it has read. It guarantees
// that a malformed file or a failing engine costs one request, and that no process or file remains after it.
//
// A request passes these files in order:
//
//	ocr.go          the RPC, the concurrency limit, stored results
//	media.go        detects the format, decodes images within limits; pdf.go and heif.go use external programs
//	read.go         chooses between text, the engine and its fallback
//	neural.go       the neural engine, with Tesseract as second witness; neuralprocess.go runs its process, ocr-neural
//	passes.go       Tesseract alone: several passes until the receipt is consistent
//	prepare.go      straightens and scales a page; crop.go finds its print; whiten.go, pixels.go and resize.go process pixels
//	engine.go       runs Tesseract and parses its words; process.go confines the other external programs
//	vision.go       the alternative engine: a model behind an HTTP endpoint
//	answer.go       converts the result to the response
//
// The rules from words to a receipt are in the subpackage receipt, which is pure. The subpackage neural is the code of ocr-neural.
package ocr

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

// Migrations contains the schema's migrations.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Config is the service's configuration, read from the environment.
type Config struct {
	rpc.Config
	// DatabaseURL connects as the service's role. Its search_path names the service's schema.
	DatabaseURL string `env:"DATABASE_URL,required,notEmpty,unset"`
	// Neural is the folder of the neural engine. Without one there, Tesseract reads alone.
	Neural string `env:"OCR_NEURAL" envDefault:"/usr/lib/coffer/neural"`
	// Tesseract is the program of the second engine, by name or path.
	Tesseract string `env:"OCR_TESSERACT" envDefault:"tesseract"`
	// Timeout limits one run of the engine or of a PDF program. Reading a receipt takes several runs.
	Timeout time.Duration `env:"OCR_ENGINE_TIMEOUT" envDefault:"15s"`
	// Workers is the number of receipts that are read at once; 0 means one per core.
	Workers int `env:"OCR_WORKERS" envDefault:"0"`
	// Queue is the number of receipts that may wait for a worker. Further ones are rejected with 503.
	Queue int `env:"OCR_QUEUE" envDefault:"8"`
	// Vision configures the engine that replaces the others, if its URL is set.
	Vision visionConfig
}

// resultRetention is how long the receipt read from a file is stored.
const resultRetention = 30 * 24 * time.Hour

// server implements OCRService.
type server struct {
	ocrv1.UnsafeOCRServiceServer

	db     *pgxpool.Pool
	reader reader
	// recognizer is the version under which results are stored.
	recognizer int
	gate       rpc.Gate
	metrics    metrics
	log        *slog.Logger
}

var _ ocrv1.OCRServiceServer = (*server)(nil)

// Run serves on lis until ctx ends. It starts without PostgreSQL or the engine, and returns an error if the schema is older than the
// program.
func Run(ctx context.Context, config Config, lis net.Listener) error {
	log := slog.Default().With("service", "ocr")
	db, err := pg.Open(ctx, config.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := pg.AwaitSchema(ctx, db, Migrations, log); err != nil {
		return err
	}
	s, err := newServer(config, db, log)
	if err != nil {
		return err
	}
	defer s.reader.neural.stop()
	if err := newTesseract(config).check(ctx); err != nil {
		log.ErrorContext(ctx, "failed to find a usable Tesseract, receipts will fail", "error", err)
	}
	if err := s.reader.neural.check(); err != nil {
		log.WarnContext(ctx, "failed to find the neural engine, Tesseract reads receipts alone", "error", err)
	}
	go pg.Sweep(ctx, log, func(ctx context.Context) error { return deleteResults(ctx, db, time.Now().Add(-resultRetention)) })
	srv := rpc.NewServer(config.Config, nil, log)
	ocrv1.RegisterOCRServiceServer(srv, s)
	return srv.Serve(ctx, lis, func(ctx context.Context) error {
		srv.SetOptional(neuralHealth, s.reader.neural.available())
		return pg.Ping(ctx, db)
	})
}

func newServer(config Config, db *pgxpool.Pool, log *slog.Logger) (*server, error) {
	workers := config.Workers
	if workers <= 0 {
		workers = runtime.NumCPU()
	}
	reader, err := newReader(config)
	if err != nil {
		return nil, err
	}
	s := &server{
		db:         db,
		reader:     reader,
		recognizer: recognizerLocal,
		gate:       rpc.NewGate(workers, config.Queue, errBusy),
		log:        log,
	}
	switch {
	case config.Vision.URL != "":
		s.recognizer = recognizerVision
	case reader.neural.check() == nil:
		s.recognizer = recognizerNeural
	}
	s.metrics, err = newMetrics(s.gate, reader.neural)
	return s, err
}

// newReader returns a reader with the vision endpoint as its engine if one is configured. The engine on this machine is then the
// optional fallback: the neural engine, or Tesseract if that is not installed.
func newReader(config Config) (reader, error) {
	process := newNeuralProcess(config.Neural, config.Timeout)
	tesseract := local{engine: newTesseract(config), now: time.Now}
	onboard := engine(tesseract)
	if process.check() == nil {
		onboard = neuralEngine{process: process, tesseract: tesseract}
	}
	r := reader{opener: newOpener(config), engine: onboard, neural: process, now: time.Now}
	if config.Vision.URL == "" {
		return r, nil
	}
	v, err := newVision(config.Vision, time.Now)
	if err != nil {
		return reader{}, err
	}
	r.engine = v
	if config.Vision.Fallback {
		r.fallback = onboard
	}
	return r, nil
}

// Recognize implements the RPC. A file that the user has sent before is not read again: its stored receipt is returned.
func (s *server) Recognize(ctx context.Context, req *ocrv1.RecognizeRequest) (*ocrv1.RecognizeResponse, error) {
	userID, err := parseRecognize(req)
	if err != nil {
		return nil, err
	}
	// A decoded image takes many times the memory of the service, which would otherwise keep it for minutes.
	defer debug.FreeOSMemory()
	resp := &ocrv1.RecognizeResponse{}
	if resp.Receipt, err = s.receipt(ctx, userID, req.GetFile()); err != nil {
		return nil, err
	}
	if req.GetPictures() {
		if resp.Pictures, err = s.images(ctx, req.GetFile()); err != nil {
			return nil, err
		}
	}
	if req.GetPreview() {
		resp.Receipt.Pages, err = s.preview(ctx, req.GetFile(), resp.GetReceipt().GetEvidence())
	}
	return resp, err
}

// receipt returns the stored receipt of a file, or reads the file and stores the result. Results are kept per user, by SHA-256.
func (s *server) receipt(ctx context.Context, userID uuid.UUID, file []byte) (*ocrv1.Receipt, error) {
	digest := sha256.Sum256(file)
	if known := s.stored(ctx, userID, digest[:]); known != nil {
		return known, nil
	}
	start := time.Now()
	found, err := s.recognize(ctx, file)
	s.metrics.record(ctx, time.Since(start), err)
	if err != nil {
		return nil, err
	}
	receipt := found.proto()
	if !found.final() {
		s.log.WarnContext(ctx, "failed to complete a receipt with the engine", "fallback", found.fromFallback, "error", found.failure)
		return receipt, nil
	}
	// A stored result only saves work, so a failure to store it does not fail the request.
	if err := s.store(ctx, userID, digest[:], receipt); err != nil {
		s.log.WarnContext(ctx, "failed to store a receipt", "error", err)
	}
	return receipt, nil
}

func (s *server) store(ctx context.Context, userID uuid.UUID, digest []byte, receipt *ocrv1.Receipt) error {
	stored, err := proto.Marshal(receipt)
	if err != nil {
		return fmt.Errorf("encoding a receipt: %w", err)
	}
	return insertResult(ctx, s.db, userID, digest, s.recognizer, stored)
}

// parseRecognize validates a request and returns the user's id.
func parseRecognize(req *ocrv1.RecognizeRequest) (uuid.UUID, error) {
	userID, err := uuid.Parse(req.GetUserId())
	if err != nil {
		return uuid.Nil, errUserID
	}
	if len(req.GetFile()) == 0 {
		return uuid.Nil, errFile
	}
	if len(req.GetFile()) > rpc.MaxFile {
		return uuid.Nil, errTooLarge
	}
	return userID, nil
}

// stored returns the stored receipt of a file, or nil if there is none or it cannot be loaded.
func (s *server) stored(ctx context.Context, userID uuid.UUID, digest []byte) *ocrv1.Receipt {
	stored, err := selectResult(ctx, s.db, userID, digest, s.recognizer)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	receipt := &ocrv1.Receipt{}
	if err == nil {
		err = proto.Unmarshal(stored.Receipt, receipt)
	}
	if err != nil {
		s.log.WarnContext(ctx, "failed to load a stored receipt", "error", err)
		return nil
	}
	return receipt
}

// recognize reads a file as soon as a worker is free. Decoding happens behind the gate too, because it needs the most memory.
func (s *server) recognize(ctx context.Context, file []byte) (reading, error) {
	leave, err := s.gate.Enter(ctx)
	if err != nil {
		return reading{}, err
	}
	defer leave()
	return s.reader.read(ctx, file)
}

// images returns the pages of a file as JPEGs, made as soon as a worker is free. It decodes the file a second time, so it enters
// the gate again.
func (s *server) images(ctx context.Context, file []byte) ([][]byte, error) {
	leave, err := s.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	images, err := s.reader.opener.images(ctx, file)
	return images, publicError(ctx, err)
}

// preview returns the pages of a file for display, made as soon as a worker is free.
func (s *server) preview(ctx context.Context, file []byte, evidence []*ocrv1.Evidence) ([]*ocrv1.ReceiptPage, error) {
	leave, err := s.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	pages, err := s.reader.opener.preview(ctx, file, evidence)
	return pages, publicError(ctx, err)
}
