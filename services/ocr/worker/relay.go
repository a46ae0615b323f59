package worker

import (
	"context"
	"encoding/binary"
	"io"
	"os"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/neural"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

// line connects a worker with the service. The worker writes a page to the file, and the deadline
// of the page, in nanoseconds or 0, to the first pipe. The service sends the page to the neural
// engine, and writes the response of package neural to the second pipe.
type line struct {
	page                       *os.File
	deadlines, workerDeadlines *os.File
	words, workerWords         *os.File
}

func newLine() (pipes line, err error) {
	if pipes.page, err = sandbox.Unnamed(); err != nil {
		return line{}, err
	}
	pipes.deadlines, pipes.workerDeadlines, err = os.Pipe()
	if err == nil {
		pipes.workerWords, pipes.words, err = os.Pipe()
	}
	if err != nil {
		pipes.close()
		return line{}, err
	}
	return pipes, nil
}

// ofWorker returns the files of the worker, in the order of networksOfService.
func (l line) ofWorker() []*os.File { return []*os.File{l.page, l.workerDeadlines, l.workerWords} }

// close ends relay.
func (l line) close() {
	for _, f := range []*os.File{l.page, l.deadlines, l.workerDeadlines, l.words, l.workerWords} {
		_ = f.Close()
	}
}

// relay serves the pages of a worker, one after the other, until close.
func (l line) relay(ctx context.Context, engine *process.Process) {
	for {
		var deadline int64
		if binary.Read(l.deadlines, binary.LittleEndian, &deadline) != nil {
			return
		}
		page, err := l.read(ctx, engine, deadline)
		if neural.WriteResponse(l.words, page, err) != nil {
			return
		}
	}
}

// read reads the page in the file. The engine fails if it does not respond by the deadline, while
// the request continues.
func (l line) read(
	ctx context.Context, engine *process.Process, deadline int64,
) (neural.Page, error) {
	if deadline != 0 {
		var cancel context.CancelFunc
		end := time.Unix(0, deadline)
		ctx, cancel = context.WithDeadlineCause(ctx, end, process.ErrAttemptTooLong)
		defer cancel()
	}
	req, err := neural.OpenRequest(l.page)
	if err != nil {
		return neural.Page{}, err
	}
	return engine.Read(ctx, req)
}

type networks struct {
	page      io.WriterAt
	deadlines io.Writer
	words     io.Reader
}

// networksOfService returns the neural engine of the service that started this process.
func networksOfService() networks {
	return networks{os.NewFile(3, "page"), os.NewFile(4, "deadlines"), os.NewFile(5, "words")}
}

// Read implements recognition.Networks. It ignores the end of ctx: the service responds by its
// deadline. It fails with sandbox.ErrTime if the processor time is used up, and counts that of the
// page.
func (n networks) Read(ctx context.Context, req neural.Request) (neural.Page, error) {
	if err := sandbox.CheckTime(); err != nil {
		return neural.Page{}, err
	}
	if _, err := req.WriteTo(io.NewOffsetWriter(n.page, 0)); err != nil {
		return neural.Page{}, err
	}
	var deadline int64
	if at, ok := ctx.Deadline(); ok {
		deadline = at.UnixNano()
	}
	if err := binary.Write(n.deadlines, binary.LittleEndian, deadline); err != nil {
		return neural.Page{}, err
	}
	page, err := neural.ReadResponse(n.words, req.Size)
	sandbox.Charge(page.Processor)
	return page, err
}
