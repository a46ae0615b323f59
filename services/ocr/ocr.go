// Package ocr reads receipts: files in, structured receipts out. It owns nothing but the memory of what it has read, and
// promises that a bad file or a broken engine costs one request and leaves nothing behind.
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

// Migrations is the history of the schema.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Config is what the service is told.
type Config struct {
	rpc.Config
	// DatabaseURL is that of the service's own role; its search_path names the service's schema.
	DatabaseURL string `env:"DATABASE_URL,required,notEmpty,unset"`
	// Tesseract is the engine's program, by name or path.
	Tesseract string `env:"OCR_TESSERACT" envDefault:"tesseract"`
	// Timeout bounds one run of the engine, or of a PDF tool, which are a few for a receipt.
	Timeout time.Duration `env:"OCR_ENGINE_TIMEOUT" envDefault:"15s"`
	// Workers is how many receipts are read at once; 0: as many as there are cores.
	Workers int `env:"OCR_WORKERS" envDefault:"0"`
	// Queue is how many more may wait.
	Queue int `env:"OCR_QUEUE" envDefault:"8"`
	// Vision is the engine used instead of Tesseract when it is configured.
	Vision visionConfig
}

// resultsKept is how long a file's receipt is remembered.
const resultsKept = 30 * 24 * time.Hour

type server struct {
	ocrv1.UnsafeOCRServiceServer

	db     *pgxpool.Pool
	reader reader
	// recogniser is what results are remembered under.
	recogniser int
	gate       rpc.Gate
	metrics    metrics
	log        *slog.Logger
}

var _ ocrv1.OCRServiceServer = (*server)(nil)

// Run serves on lis until ctx ends. It starts while Postgres or the engine is away, and returns an error when the schema
// is behind.
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
	if err := newTesseract(config).check(ctx); err != nil {
		log.ErrorContext(ctx, "the engine is not usable; receipts will fail", "error", err)
	}
	go pg.Sweep(ctx, log, func(ctx context.Context) error { return deleteResults(ctx, db, time.Now().Add(-resultsKept)) })
	srv := rpc.NewServer(config.Config, nil, log)
	ocrv1.RegisterOCRServiceServer(srv, s)
	return srv.Serve(ctx, lis, func(ctx context.Context) error { return pg.Answers(ctx, db) })
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
		recogniser: recogniserLocal,
		gate:       rpc.NewGate(workers, config.Queue, errBusy),
		log:        log,
	}
	if config.Vision.URL != "" {
		s.recogniser = recogniserVision
	}
	s.metrics, err = newMetrics(s.gate)
	return s, err
}

func newReader(config Config) (reader, error) {
	onboard := local{engine: newTesseract(config), now: time.Now}
	r := reader{opener: newOpener(config), engine: onboard, now: time.Now}
	if config.Vision.URL == "" {
		return r, nil
	}
	v, err := newVision(config.Vision, time.Now)
	if err != nil {
		return reader{}, err
	}
	r.engine = v
	if config.Vision.Fallback {
		r.spare = onboard
	}
	return r, nil
}

// Recognize implements the RPC. A file that this user has shown before is not read again.
func (s *server) Recognize(ctx context.Context, req *ocrv1.RecognizeRequest) (*ocrv1.RecognizeResponse, error) {
	userID, err := parseRecognize(req)
	if err != nil {
		return nil, err
	}
	// A picture takes many times what the service does, which would keep it long after.
	defer debug.FreeOSMemory()
	resp := &ocrv1.RecognizeResponse{}
	if resp.Receipt, err = s.receipt(ctx, userID, req.GetFile()); err != nil {
		return nil, err
	}
	if req.GetPictures() {
		resp.Pictures, err = s.pictures(ctx, req.GetFile())
	}
	return resp, err
}

func (s *server) receipt(ctx context.Context, userID uuid.UUID, file []byte) (*ocrv1.Receipt, error) {
	digest := sha256.Sum256(file)
	if known := s.recall(ctx, userID, digest[:]); known != nil {
		return known, nil
	}
	start := time.Now()
	found, err := s.recognise(ctx, file)
	s.metrics.record(ctx, time.Since(start), err)
	if err != nil {
		return nil, err
	}
	receipt := found.proto()
	if found.spared {
		// The engine may do better the next time.
		s.log.WarnContext(ctx, "the engine failed; the spare one read a receipt")
		return receipt, nil
	}
	// The memory saves work; a receipt that could not be remembered is read all the same.
	if err := s.remember(ctx, userID, digest[:], receipt); err != nil {
		s.log.WarnContext(ctx, "remembering a receipt", "error", err)
	}
	return receipt, nil
}

func (s *server) remember(ctx context.Context, userID uuid.UUID, digest []byte, receipt *ocrv1.Receipt) error {
	stored, err := proto.Marshal(receipt)
	if err != nil {
		return fmt.Errorf("encoding a receipt: %w", err)
	}
	return insertResult(ctx, s.db, userID, digest, s.recogniser, stored)
}

func parseRecognize(req *ocrv1.RecognizeRequest) (uuid.UUID, error) {
	userID, err := uuid.Parse(req.GetUserId())
	if err != nil {
		return uuid.Nil, errUserID
	}
	if len(req.GetFile()) == 0 {
		return uuid.Nil, errFile
	}
	if len(req.GetFile()) > maxFile {
		return uuid.Nil, errTooLarge
	}
	return userID, nil
}

// recall returns nil for a file that is new, and where what is remembered of it cannot be had.
func (s *server) recall(ctx context.Context, userID uuid.UUID, digest []byte) *ocrv1.Receipt {
	stored, err := selectResult(ctx, s.db, userID, digest, s.recogniser)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	receipt := &ocrv1.Receipt{}
	if err == nil {
		err = proto.Unmarshal(stored.Receipt, receipt)
	}
	if err != nil {
		s.log.WarnContext(ctx, "recalling a receipt", "error", err)
		return nil
	}
	return receipt
}

// recognise reads a file when it is its turn. Decoding happens behind the gate too: it needs the most memory.
func (s *server) recognise(ctx context.Context, file []byte) (reading, error) {
	leave, err := s.gate.Enter(ctx)
	if err != nil {
		return reading{}, err
	}
	defer leave()
	return s.reader.read(ctx, file)
}

// pictures are the file's pages, made when it is its turn.
func (s *server) pictures(ctx context.Context, file []byte) ([][]byte, error) {
	leave, err := s.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	pictures, err := s.reader.opener.pictures(ctx, file)
	return pictures, refused(ctx, err)
}
