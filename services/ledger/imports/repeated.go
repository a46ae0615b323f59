package imports

import (
	"context"
	"crypto/sha256"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// uploadCall returns the idempotent call of an upload that was received. A repeated request must
// have the same file. Its hash represents it, because the file is not in memory.
func uploadCall(ctx context.Context, first *ledgerv1.CreateImportRequest, sha256 []byte) idem.Call {
	same := proto.CloneOf(first)
	same.File = sha256
	return idem.Call{Owner: caller.ID(ctx), Key: first.GetIdempotencyKey(), Request: same}
}

// replayRejected sends the response of the first upload with the same key, and returns rejected for
// any other upload. The first upload may have opened the last import that its user may have open.
// The file is received for its hash, and not stored. Without a key, the upload is rejected before
// its file arrives.
func (s *Imports) replayRejected(
	first *ledgerv1.CreateImportRequest, stream upload, rejected error,
) error {
	if first.GetIdempotencyKey() == "" {
		return rejected
	}
	seen := sha256.New()
	_, err := io.Copy(seen, rpc.NewFileReader(maxFile, func() ([]byte, error) {
		m, err := stream.Recv()
		return m.GetFile(), err
	}))
	if err != nil {
		return rejected
	}
	ctx, resp := stream.Context(), &ledgerv1.CreateImportResponse{}
	call := uploadCall(ctx, first, seen.Sum(nil))
	resp.Replayed, err = idem.ReplayRejected(ctx, s.DB, call, resp, rejected)
	if err != nil {
		return err
	}
	return stream.SendAndClose(resp)
}
