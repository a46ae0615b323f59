package statement

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// IDs assigns the external ids of the records of one import. Its zero value is ready to use. A
// wallet never has two transactions with the same external id, so two records of one file must not
// share one: two equal coffees on one day stay two.
type IDs struct {
	ids     map[uint64]int // How often an id of the source occurred, by account.
	content map[uint64]int // How often a record occurred.
	pending *IDs           // The ids of pending records.
}

// PendingID precedes the external ids of pending records. The rest is the external id that the
// payment has in a later file, if the bank changes nothing else.
const PendingID = "pending:"

// Assign sets the external id of a record, unless it is no transaction. It must be called for all
// records in file order. The same file always gets the same ids. A pending record does not change
// the ids of the booked ones: it is missing in the next file.
func (s *IDs) Assign(record *Record) {
	if record.Skip || record.Opening || record.Problem != "" {
		return
	}
	if record.Status != written.Pending {
		s.assign(record)
		return
	}
	if s.pending == nil {
		s.pending = &IDs{}
	}
	s.pending.assign(record)
	record.ExternalID = PendingID + record.ExternalID
}

func (s *IDs) assign(record *Record) {
	if s.ids == nil {
		s.ids, s.content = make(map[uint64]int), make(map[uint64]int)
	}
	if record.ExternalID == "" {
		h := record.hash()
		key := binary.LittleEndian.Uint64(h[:])
		record.ExternalID = "hash:" + base64.RawURLEncoding.EncodeToString(h[:]) + ":" +
			strconv.Itoa(s.content[key])
		s.content[key]++
		return
	}
	first := short(record.Account, record.ExternalID)
	n := s.ids[first]
	if s.ids[first]++; n == 0 {
		return
	}
	// Some banks repeat an id. The amount distinguishes most of these records, and a number the
	// others.
	record.ExternalID += ":" + written.TrimDecimals(record.Amount)
	second := short(record.Account, record.ExternalID)
	if n := s.ids[second]; n > 0 {
		record.ExternalID += ":" + strconv.Itoa(n)
	}
	s.ids[second]++
}

// hash returns 16 bytes of SHA-256 over the contents of a record: account, day, amount, currency,
// and payee and description without case and punctuation. These are the same in a second file that
// overlaps the first.
func (r *Record) hash() [16]byte {
	hash := sha256.New()
	for _, text := range []string{
		r.Account, r.Date.Format(time.DateOnly), written.TrimDecimals(r.Amount), r.Currency,
		written.Fold(r.Payee + " " + r.Description),
	} {
		// A length before each text keeps two texts from being read as another two.
		_ = binary.Write(hash, binary.LittleEndian, uint32(len(text))) // A hash never fails.
		hash.Write([]byte(text))
	}
	return [16]byte(hash.Sum(nil))
}

// short returns 8 bytes of SHA-256 over an account and an id.
func short(account, id string) uint64 {
	h := sha256.Sum256([]byte(account + "\x00" + id))
	return binary.LittleEndian.Uint64(h[:])
}
