// Package ocr implements the OCR service. It turns receipt files into structured receipts and owns
// the stored results of files that it has read. It guarantees that a malformed file or a failing
// engine costs one request, and that no process or file remains after it.
//
// This package has the RPC, the limit of concurrent receipts, the stored results and the metrics. A
// request passes these packages, each of which imports only those below it:
//
//	worker          reads each image or PDF in a separate process, with the packages below
//	recognition     chooses text or engines, combines their readings, survives their failures
//	media           detects the format of a file and decodes it within limits
//	imaging         straightens, whitens and scales a page, and finds its print
//	tesseract       runs Tesseract and parses its words
//	neural/process  runs ocr-neural, a confined process with the code of package neural
//	receipt         the pure rules from words to a receipt
//	sandbox         runs external programs within limits
//
// ocrtest makes photographs for other modules, fixture the files of this module's tests. fixture
// imports none of these packages, so that the tests of all can use it.
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
	"github.com/coffer-budget/coffer/services/ocr/recognition"
	"github.com/coffer-budget/coffer/services/ocr/tesseract"
	"github.com/coffer-budget/coffer/services/ocr/worker"
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
	Engines     recognition.Config
	// Workers is the number of receipts that are read at once; 0 means one per core.
	Workers int `env:"OCR_WORKERS" envDefault:"0"`
	// Queue is the number of receipts that may wait for a worker. Further ones are rejected with
	// 503.
	Queue int `env:"OCR_QUEUE" envDefault:"8"`
}

const resultRetention = 30 * 24 * time.Hour

type server struct {
	ocrv1.UnsafeOCRServiceServer

	db     *pgxpool.Pool
	reader worker.Reader
	// recognizer is the version under which complete results of the configured engine are stored.
	recognizer int
	gate       rpc.Gate
	load       *load
	metrics    metrics
	log        *slog.Logger
}

var _ ocrv1.OCRServiceServer = (*server)(nil)

// Run serves on lis until ctx ends. It starts without PostgreSQL or the engine, and returns an
// error if the schema is older than the program.
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
	server, err := newServer(config, db, log)
	if err != nil {
		return err
	}
	defer server.reader.Neural().Stop()
	stopMeasuring, err := measure(server.gate, server.reader.Neural())
	if err != nil {
		return err
	}
	defer func() { _ = stopMeasuring() }()
	engine := tesseract.New(config.Engines.Tesseract, config.Engines.Timeout)
	if err := engine.Check(ctx); err != nil {
		log.ErrorContext(ctx, "failed to find a usable Tesseract, receipts will fail", "error", err)
	}
	if err := server.reader.Neural().Check(); err != nil {
		log.WarnContext(ctx, "failed to find the neural engine, Tesseract reads receipts alone",
			"error", err)
	}
	go pg.Sweep(ctx, log, func(ctx context.Context) error {
		return deleteResults(ctx, db, time.Now().Add(-resultRetention))
	})
	srv := rpc.NewServer(config.Config, nil, log)
	ocrv1.RegisterOCRServiceServer(srv, server)
	return srv.Serve(ctx, lis, func(ctx context.Context) error {
		srv.SetOptional(rpc.HealthNeural, server.reader.Neural().Available())
		return pg.Ping(ctx, db)
	})
}

func newServer(config Config, db *pgxpool.Pool, log *slog.Logger) (*server, error) {
	workers := config.Workers
	if workers <= 0 {
		workers = runtime.NumCPU()
	}
	reader, err := worker.New(config.Engines)
	if err != nil {
		return nil, err
	}
	server := &server{
		db:         db,
		reader:     reader,
		recognizer: recognizerLocal,
		gate:       rpc.NewGate(workers, config.Queue, errBusy),
		load:       newLoad(workers, time.Now),
		log:        log,
	}
	switch {
	case config.Engines.Vision.URL != "":
		server.recognizer = recognizerVision
	case reader.Neural().Check() == nil:
		server.recognizer = recognizerNeural
	}
	server.metrics, err = newMetrics()
	return server, err
}

// Recognize reads a file, or returns the stored result if the user has sent it before.
func (s *server) Recognize(
	ctx context.Context, req *ocrv1.RecognizeRequest,
) (*ocrv1.RecognizeResponse, error) {
	userID, err := parseRecognize(req)
	if err != nil {
		return nil, err
	}
	file := req.GetFile()
	// The file and the images take as much memory as the service, which would otherwise keep it for
	// minutes.
	defer debug.FreeOSMemory()
	reader := s.reader.ForReceipt()
	resp, err := s.receipts(ctx, reader, userID, file)
	if err != nil {
		return nil, err
	}
	if req.GetPictures() {
		resp.Pictures, err = gated(ctx, s.gate, func() ([][]byte, error) {
			return reader.Images(ctx, file)
		})
		if err != nil {
			return nil, err
		}
	}
	if req.GetPreview() {
		resp.Receipt.Pages, err = gated(ctx, s.gate, func() ([]*ocrv1.ReceiptPage, error) {
			return reader.Preview(ctx, file, resp.GetReceipt().GetEvidence())
		})
	}
	return resp, err
}

// EraseUser deletes the stored results of a user. Repetitions are harmless.
func (s *server) EraseUser(
	ctx context.Context, req *ocrv1.EraseUserRequest,
) (*ocrv1.EraseUserResponse, error) {
	userID, err := uuid.Parse(req.GetUserId())
	if err != nil {
		return nil, errUserID
	}
	return &ocrv1.EraseUserResponse{}, deleteResultsOf(ctx, s.db, userID)
}

// gated runs f as soon as a worker is free. Every decoding of a file is behind the gate, because it
// needs the most memory.
func gated[T any](ctx context.Context, gate rpc.Gate, f func() (T, error)) (out T, err error) {
	leave, err := gate.Enter(ctx)
	if err != nil {
		return out, err
	}
	defer leave()
	return f()
}

// receipts returns the stored receipts of a file, or reads the file and stores the result. Results
// are kept per user, by SHA-256.
func (s *server) receipts(
	ctx context.Context, reader worker.Reader, userID uuid.UUID, file []byte,
) (*ocrv1.RecognizeResponse, error) {
	digest := sha256.Sum256(file)
	if known := s.stored(ctx, userID, digest[:]); known != nil {
		return known, nil
	}
	start := time.Now()
	found, err := s.read(ctx, reader, file)
	s.metrics.record(ctx, time.Since(start), err)
	if err != nil {
		return nil, err
	}
	if found.Failure != "" || found.FromFallback {
		s.log.WarnContext(ctx, "failed to complete a receipt with the engine",
			"fallback", found.FromFallback, "error", found.Failure)
	}
	// A stored result only saves work.
	if err := s.store(ctx, userID, digest[:], found); err != nil {
		s.log.WarnContext(ctx, "failed to store a receipt", "error", err)
	}
	return &ocrv1.RecognizeResponse{Receipt: found.Receipt, Receipts: found.Receipts}, nil
}

// store stores a complete reading. A reading by Tesseract alone, because the neural engine failed,
// gets Tesseract's version: it is used while the neural engine is unavailable, and replaced
// afterwards.
func (s *server) store(
	ctx context.Context, userID uuid.UUID, digest []byte, found worker.Reading,
) error {
	recognizer := s.recognizer
	switch {
	case found.Final:
	case found.TesseractAlone:
		recognizer = recognizerLocal
	default:
		return nil
	}
	stored, err := proto.Marshal(&ocrv1.RecognizeResponse{
		Receipt: found.Receipt, Receipts: found.Receipts,
	})
	if err != nil {
		return fmt.Errorf("encoding a result: %w", err)
	}
	return insertResult(ctx, s.db, userID, digest, recognizer, stored)
}

// recognizers returns the versions whose results are as good as a new reading.
func (s *server) recognizers() []int {
	if s.recognizer == recognizerNeural && !s.reader.Neural().Available() {
		return []int{recognizerNeural, recognizerLocal}
	}
	return []int{s.recognizer}
}

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

// stored returns the stored result of a file, or nil if there is none or it cannot be loaded.
func (s *server) stored(
	ctx context.Context, userID uuid.UUID, digest []byte,
) *ocrv1.RecognizeResponse {
	stored, err := selectResult(ctx, s.db, userID, digest, s.recognizers())
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	result := &ocrv1.RecognizeResponse{}
	if err == nil {
		err = proto.Unmarshal(stored, result)
	}
	if err != nil {
		s.log.WarnContext(ctx, "failed to load a stored receipt", "error", err)
		return nil
	}
	return result
}
