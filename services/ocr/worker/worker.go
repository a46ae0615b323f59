// Package worker reads each image or PDF in a separate process, a worker, so that decoded images
// never occupy the service's memory, and the decoders of untrusted files do not share a process
// with the connections to the database. The service itself reads texts.
//
// A worker is the service's program, started with one argument: init then serves a job and ends the
// process, so each program that contains the service can start workers, also a test. The worker
// runs package recognition, with Tesseract and the programs for PDF and HEIF as its child
// processes. The neural engine stays a process of the service, because it serves many receipts. Its
// pages pass through a file in memory, which the service does not load.
//
// A worker gets the file and the configuration of the engines, and of the service's environment
// only the variables for programs, the time zone, a proxy and certificates. Its memory and its time
// are limited, and it gives up rights that it does not need before it looks at the file. It ends
// with the request, and so do its child processes. If it crashes or is killed, the request fails
// with recognition.ErrResponse. No file remains. If the service itself is killed, the next one that
// starts on the machine removes them.
package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/media"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
	"github.com/coffer-budget/coffer/services/ocr/recognition"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

const (
	command = "ocr-worker"
	// heap is enough for an image of the maximum size in any format. addressSpace also counts what
	// Go only reserves.
	heap, addressSpace = 1 << 30, 4 << 30
	// output limits the result: five pages of 2 MiB. It exceeds the output of each program that a
	// worker starts, as a limit must.
	output = 64 << 20
	// The exit codes for recognition.ErrParse, context.DeadlineExceeded, recognition.ErrComplex and
	// recognition.ErrPixels.
	exitUnreadable, exitLate, exitComplex, exitPixels = 3, 4, 5, 6
)

// inherited lists the environment variables of the service that a worker gets.
var inherited = []string{
	"PATH", "TZ", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
}

// Reader reads files in workers. It is safe for concurrent use.
type Reader struct {
	config recognition.Config
	// texts reads files that are no images. It needs no engine.
	texts   recognition.Reader
	program string
	neural  *process.Process
	// installed is set if the neural engine was installed at the start.
	installed bool
	heap      int64
	// left is the processor time that the jobs of a receipt may still take, or nil without a limit.
	left *time.Duration
}

// New returns a reader, and removes the files that killed services have left. It returns an error
// for a configuration that a worker would reject.
func New(config recognition.Config) (Reader, error) {
	texts, err := recognition.New(config, nil, time.Now)
	if err != nil {
		return Reader{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return Reader{}, fmt.Errorf("finding the program of workers: %w", err)
	}
	removeAbandoned()
	neural := process.New(config.Neural, config.Timeout)
	return Reader{
		config: config, texts: texts, program: program, heap: heap,
		neural: neural, installed: neural.Check() == nil,
	}, nil
}

// ForReceipt returns a reader for one receipt. Its jobs share the processor time of a receipt, and
// run one after the other.
func (r Reader) ForReceipt() Reader {
	if r.config.Processor > 0 {
		r.left = new(r.config.Processor)
	}
	return r
}

// Neural returns the process of the neural engine.
func (r Reader) Neural() *process.Process { return r.neural }

// Reading is a receipt and how it was read.
type Reading struct {
	Receipt *ocrv1.Receipt `json:"-"`
	// Receipts has all receipts of a file that shows several. The first one is also Receipt.
	Receipts                            []*ocrv1.Receipt `json:"-"`
	Final, FromFallback, TesseractAlone bool
	// Failure is the text of the engine's error that the reading survived, or empty.
	Failure string
	// Processor is the processor time of the worker, its programs and the neural engine.
	Processor time.Duration
}

// Read returns the receipt in a file, or recognition.ErrParse, recognition.ErrComplex,
// recognition.ErrResponse or the context's error.
func (r Reader) Read(ctx context.Context, file []byte) (Reading, error) {
	out, err := r.run(ctx, job{Kind: read}, file)
	out.Receipt, out.Receipts = out.response.GetReceipt(), out.response.GetReceipts()
	return out.Reading, err
}

// Images returns the pages of a file as JPEGs.
func (r Reader) Images(ctx context.Context, file []byte) ([][]byte, error) {
	out, err := r.run(ctx, job{Kind: images}, file)
	return out.response.GetPictures(), err
}

// Preview returns the pages of a file for display beside the fields that have the evidence.
func (r Reader) Preview(
	ctx context.Context, file []byte, evidence []*ocrv1.Evidence,
) ([]*ocrv1.ReceiptPage, error) {
	boxes, err := proto.Marshal(&ocrv1.Receipt{Evidence: evidence})
	if err != nil {
		return nil, fmt.Errorf("encoding evidence: %w", err)
	}
	out, err := r.run(ctx, job{Kind: preview, Evidence: boxes}, file)
	return out.response.GetReceipt().GetPages(), err
}

// run serves a job in a worker. A text is read in this process, because there is nothing to decode.
// A file of no known type is rejected like a text with control characters.
func (r Reader) run(ctx context.Context, job job, file []byte) (result, error) {
	if media.TypeOf(file) == "" {
		return job.do(ctx, r.texts, file)
	}
	job.Config, job.Neural = r.config, r.installed
	job.Deadline, _ = ctx.Deadline()
	if r.left != nil {
		if *r.left <= 0 {
			return result{}, recognition.TooComplex(r.config.Processor)
		}
		job.Processor = *r.left
	}
	printed, err := r.start(ctx, job, file)
	var out result
	if err == nil {
		out, err = parse(printed)
	}
	if err != nil {
		return result{}, r.publicError(ctx, err)
	}
	if r.left != nil {
		*r.left -= out.Processor
	}
	return out, nil
}

// publicError maps a worker's failure to an error of package recognition or of the context.
func (r Reader) publicError(ctx context.Context, err error) error {
	code := -1
	if exit, exited := errors.AsType[*exec.ExitError](err); exited {
		code = exit.ExitCode()
	}
	public := recognition.ErrResponse
	switch {
	// The context comes first, because a canceled worker also looks like a failure.
	case ctx.Err() != nil:
		return ctx.Err()
	case code == exitLate:
		return context.DeadlineExceeded
	case code == exitComplex || errors.Is(err, sandbox.ErrTime):
		return fmt.Errorf("%w: %w", recognition.TooComplex(r.config.Processor), err)
	case code == exitPixels:
		public = recognition.ErrPixels
	case code == exitUnreadable:
		public = recognition.ErrParse
	}
	return fmt.Errorf("%w: %w", public, err)
}

// start runs a worker, with a folder for temporary files that is removed afterwards, and returns
// its output.
func (r Reader) start(ctx context.Context, job job, file []byte) ([]byte, error) {
	head, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("encoding a job: %w", err)
	}
	temporary, err := newFolder()
	if err != nil {
		return nil, err
	}
	defer temporary.remove()
	line, err := newLine()
	if err != nil {
		return nil, fmt.Errorf("connecting a worker: %w", err)
	}
	from := sandbox.Inherited{
		Stdin: io.MultiReader(bytes.NewReader(append(head, '\n')), bytes.NewReader(file)),
		Files: line.ofWorker(),
		Env:   []string{"TMPDIR=" + temporary.path},
	}
	for _, name := range inherited {
		if value, set := os.LookupEnv(name); set {
			from.Env = append(from.Env, name+"="+value)
		}
	}
	// A page that is being read when the worker ends is canceled.
	pages, cancel := context.WithCancel(ctx)
	relayed := make(chan struct{})
	go func() {
		defer close(relayed)
		line.relay(pages, r.neural)
	}()
	defer func() {
		cancel()
		line.close()
		<-relayed
	}()
	// The programs that a worker starts cannot have a higher limit.
	most := max(time.Minute, 2*r.config.Timeout)
	limits := sandbox.Limits{
		Time: cmp.Or(job.Processor, most), Clock: 3 * most,
		Memory: addressSpace, Heap: r.heap, Output: output,
	}
	return sandbox.RunWith(ctx, limits, from, r.program, command)
}

func parse(printed []byte) (result, error) {
	head, body, _ := bytes.Cut(printed, []byte("\n"))
	out := result{response: &ocrv1.RecognizeResponse{}}
	err := errors.Join(json.Unmarshal(head, &out.Reading), proto.Unmarshal(body, out.response))
	if err != nil {
		return result{}, fmt.Errorf("decoding a worker's output: %w", err)
	}
	return out, nil
}
