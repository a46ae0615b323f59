package jobs

import "time"

const (
	// chunkTime is the time for which a chunk should hold the owner's lock. Single writes of the
	// owner wait for one chunk at most.
	chunkTime = 150 * time.Millisecond
	// firstRows is the number of rows of the first chunk. minRows and maxRows limit the later ones.
	firstRows = 100
	minRows   = 20
	maxRows   = 500
)

// Pace adapts the rows of chunks to the speed of the machine, so that a chunk takes about
// chunkTime.
type Pace struct {
	now  func() time.Time
	rows int
	// began is the time of the call of Rows in the current chunk, or zero.
	began time.Time
}

// NewPace returns the pace of a job whose first chunk is next.
func NewPace(now func() time.Time) *Pace { return &Pace{now: now, rows: firstRows} }

// Rows returns the maximum number of rows of a chunk. The chunk calls it when it holds its locks,
// because the time for which it waits for other writes is not its own.
func (p *Pace) Rows() int {
	p.began = p.now()
	return p.rows
}

// end ends a chunk. The number of rows changes by a factor of two at most, because the next rows
// may need more or less time.
func (p *Pace) end() {
	if p.began.IsZero() {
		return
	}
	took := max(p.now().Sub(p.began), time.Microsecond)
	wanted := int(int64(p.rows) * int64(chunkTime) / int64(took))
	p.rows = min(max(wanted, p.rows/2, minRows), 2*p.rows, maxRows)
	p.began = time.Time{}
}
