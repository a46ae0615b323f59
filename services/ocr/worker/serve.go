package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"google.golang.org/protobuf/proto"

	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ocr/media"
	"github.com/coffer-budget/coffer/services/ocr/recognition"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

const (
	read    = "read"
	images  = "images"
	preview = "preview"
)

// job is the input of a worker, as one line of JSON. The file follows it.
type job struct {
	Kind     string
	Config   recognition.Config
	Deadline time.Time
	// Processor limits the processor time of the worker, its programs and the neural engine
	// together. 0 is no limit.
	Processor time.Duration
	// Neural is set if the service has the neural engine.
	Neural bool
	// Evidence is a Receipt with the evidence for a preview.
	Evidence []byte
}

// memoryLimit is the memory in bytes near which the garbage collector runs after every few
// allocations. Images would otherwise accumulate to several times their size.
const memoryLimit = 40 << 20

// init serves a job if this process is a worker. It runs before main, so that a test's program can
// be a worker, too.
//
//nolint:gochecknoinits // A program that forgot to call it would start itself without end.
func init() {
	if len(os.Args) == 2 && os.Args[1] == command {
		os.Exit(serve())
	}
}

// serve serves the job in the standard input and returns the exit code.
func serve() int {
	debug.SetMemoryLimit(memoryLimit)
	err := work(os.Stdin, os.Stdout)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	switch {
	case errors.Is(err, recognition.ErrParse):
		return exitUnreadable
	case errors.Is(err, media.ErrPixels):
		return exitPixels
	case errors.Is(err, recognition.ErrComplex):
		return exitComplex
	// A failed engine may have exceeded its deadline, which ends earlier.
	case errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, recognition.ErrResponse):
		return exitLate
	}
	return 1
}

// work reads a job and writes its result: a Reading as one line of JSON, and a RecognizeResponse.
func work(in io.Reader, out io.Writer) error {
	input, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	head, file, _ := bytes.Cut(input, []byte("\n"))
	var job job
	if err := json.Unmarshal(head, &job); err != nil {
		return fmt.Errorf("decoding the job: %w", err)
	}
	// The file is hostile from here on. Only a model behind an endpoint is reached through the
	// network.
	rights := sandbox.Rights{Programs: true, Network: job.Config.Vision.URL != ""}
	if err := sandbox.Confine(rights); err != nil {
		return fmt.Errorf("giving up rights: %w", err)
	}
	sandbox.LimitTime(job.Processor)
	ctx := context.Background()
	if !job.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, job.Deadline)
		defer cancel()
	}
	var engine recognition.Networks
	if job.Neural {
		engine = networksOfService()
	}
	reader, err := recognition.New(job.Config, engine, time.Now)
	if err != nil {
		return err
	}
	done, err := job.do(ctx, reader, file)
	if err != nil {
		return err
	}
	done.Processor = sandbox.Used()
	if head, err = json.Marshal(done.Reading); err != nil {
		return fmt.Errorf("encoding the result: %w", err)
	}
	text, err := proto.MarshalOptions{}.MarshalAppend(append(head, '\n'), done.response)
	if err != nil {
		return fmt.Errorf("encoding the result: %w", err)
	}
	_, err = out.Write(text)
	return err
}

type result struct {
	Reading
	response *ocrv1.RecognizeResponse
}

func (j job) do(ctx context.Context, reader recognition.Reader, file []byte) (result, error) {
	var out result
	var err error
	resp := &ocrv1.RecognizeResponse{Receipt: &ocrv1.Receipt{}}
	switch j.Kind {
	case images:
		resp.Pictures, err = reader.Images(ctx, file)
	case preview:
		if err := proto.Unmarshal(j.Evidence, resp.GetReceipt()); err != nil {
			return result{}, fmt.Errorf("decoding evidence: %w", err)
		}
		resp.Receipt.Pages, err = reader.Preview(ctx, file, resp.GetReceipt().GetEvidence())
	case read:
		var found recognition.Reading
		if found, err = reader.Read(ctx, file); err != nil {
			return result{}, err
		}
		resp = found.Response()
		out.Final, out.FromFallback = found.Final(), found.FromFallback
		out.TesseractAlone = found.TesseractAlone
		if found.Failure != nil {
			out.Failure = found.Failure.Error()
		}
	}
	out.response = resp
	return out, err
}
