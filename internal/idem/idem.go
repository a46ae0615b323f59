// Package idem makes POST requests idempotent: a repeated request with the same Idempotency-Key
// gets the first response and has no further effect. The record of a key commits with the write
// that it guards, and expires after 24 hours.
//
// Use InTx for a write in its own transaction, or Call.Record for a statement that inserts the
// record together with the write. Replay answers a repeat before expensive work starts. Run Expire
// or ExpireOwned regularly, see pg.Sweep.
//
// Each service that uses it has this table in its schema:
//
//	CREATE TABLE idempotency_keys (
//	    scope       text        NOT NULL,
//	    key_hash    bytea       NOT NULL,
//	    request_mac bytea       NOT NULL,
//	    response    bytea,
//	    created_at  timestamptz NOT NULL DEFAULT now(),
//	    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (scope, key_hash)
//	);
//	CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);
//
// If the tables of the service can be distributed by owner, it also has a column owner_id uuid, and
// each Call names its Owner. The primary key may then begin with the owner, because statements name
// the constraint instead of its columns (ADR 126).
//
// The key itself is not stored, only its hash. The request's MAC and the encrypted response use the
// key as their secret, so that passwords and tokens cannot be read from the table.
package idem

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/seal"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// maxKey is the maximum length of a key in bytes.
const maxKey = 255

// Call is one request that may be repeated.
type Call struct {
	// Owner is the user to whom the record belongs, in a service whose table has a column owner_id.
	// Its text is then the scope.
	Owner uuid.UUID
	// Scope is the namespace of the key in other services: a user's id, or a substitute for
	// requests without a user.
	Scope string
	// Key is the client's Idempotency-Key. If it is empty, no record is written.
	Key string
	// Request is compared with the first request of the key, without the fields that are sent in
	// headers.
	Request proto.Message
}

// InTx runs fn, which must fill response, and writes the call's record in the same transaction. If
// the key was used for the same request within 24 hours, InTx fills response with the first
// response instead and returns true. If it was used for another request, InTx returns
// apierr.IdempotencyKeyUsed. A simultaneous repeat waits for the first request.
func InTx(
	ctx context.Context, pool *pgxpool.Pool, call Call, response proto.Message,
	fn func(tx pgx.Tx) error,
) (replayed bool, err error) {
	if call.Key == "" {
		return false, pg.InTx(ctx, pool, fn)
	}
	if err := CheckKey(call.Key); err != nil {
		return false, err
	}
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		replayed = false
		claimed, err := claim(ctx, tx, call)
		if err != nil {
			return err
		}
		if !claimed {
			replayed = true
			return load(ctx, tx, call, response)
		}
		if err := fn(tx); err != nil {
			return err
		}
		return store(ctx, tx, call, response)
	})
	return replayed, err
}

// Record is a call's record, to be inserted by the statement of the guarded write, into the columns
// of the same names. The statement must change nothing if a record of the same scope and key_hash
// is younger than 24 hours. Replay then returns the response. Without a key all fields are nil.
type Record struct{ KeyHash, RequestMAC, Response []byte }

// Record returns the call's record for its response.
func (c Call) Record(response proto.Message) (Record, error) {
	if c.Key == "" {
		return Record{}, nil
	}
	if err := CheckKey(c.Key); err != nil {
		return Record{}, err
	}
	sealed, err := c.seal(response)
	return Record{KeyHash: c.keyHash(), RequestMAC: c.requestMAC(), Response: sealed}, err
}

// Replay reports whether the call was answered before, and fills response if so. It has no side
// effects. It avoids expensive work for a repeated request, but InTx must still guard the write.
func Replay(ctx context.Context, q pg.Querier, call Call, response proto.Message) (bool, error) {
	if call.Key == "" {
		return false, nil
	}
	if err := CheckKey(call.Key); err != nil {
		return false, err
	}
	err := load(ctx, q, call, response)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// ReplayRejected is Replay for a call that a check has rejected before InTx. The call may repeat a
// request that succeeded, because the rows that it names may have changed since. Without such a
// request, ReplayRejected returns the error rejected.
//
// Call it after the check. A repetition is rejected while the first request is still in progress.
func ReplayRejected(
	ctx context.Context, q pg.Querier, call Call, response proto.Message, rejected error,
) (replayed bool, err error) {
	if replayed, err = Replay(ctx, q, call, response); err == nil && !replayed {
		err = rejected
	}
	return replayed, err
}

// Expire deletes the expired records.
func Expire(ctx context.Context, q pg.Querier) error {
	return pg.Exec(ctx, q,
		`DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours'`)
}

// ExpireOwned is Expire for a table with owners, with statements of one owner each. Their
// conditions are the beginning of either primary key.
func ExpireOwned(ctx context.Context, q pg.Querier) error {
	return pg.SweepOwners(func() ([]uuid.UUID, error) {
		return selectExpired(ctx, q)
	}, func(owner uuid.UUID) (bool, error) {
		return pg.Affected(ctx, q, `
			DELETE FROM idempotency_keys
			WHERE owner_id = $1::uuid AND scope = $1::uuid::text
				AND created_at < now() - interval '24 hours'`, owner)
	})
}

// selectExpired returns the owners of up to 1000 expired records.
func selectExpired(ctx context.Context, q pg.Querier) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, `
		SELECT owner_id
		FROM idempotency_keys
		WHERE created_at < now() - interval '24 hours'
		LIMIT 1000`)
}

// CheckKey returns an error unless the key is empty or up to 255 printable ASCII characters. InTx
// and Replay call it. A method calls it if it rejects requests for another reason before.
func CheckKey(key string) error {
	if len(key) > maxKey {
		return apierr.IdempotencyKey
	}
	for i := range len(key) {
		if key[i] < 0x20 || key[i] > 0x7e {
			return apierr.IdempotencyKey
		}
	}
	return nil
}

// claim inserts the record of a key and reports whether this call did so. It waits for a
// transaction that has inserted the same key but not committed. ON CONFLICT calls no function that
// reads the clock, because a distributed database rejects that.
func claim(ctx context.Context, tx pgx.Tx, call Call) (bool, error) {
	columns, values := "scope", "$1"
	if call.owned() {
		columns, values = "owner_id, scope", "$1::uuid, $1::uuid::text"
	}
	return pg.Affected(ctx, tx, `
		INSERT INTO idempotency_keys AS k (`+columns+`, key_hash, request_mac)
		VALUES (`+values+`, $2, $3)
		ON CONFLICT ON CONSTRAINT idempotency_keys_pkey DO UPDATE
		SET request_mac = EXCLUDED.request_mac, response = NULL, created_at = EXCLUDED.created_at
		WHERE EXCLUDED.created_at - k.created_at > interval '24 hours'`,
		call.namespace(), call.keyHash(), call.requestMAC())
}

func store(ctx context.Context, tx pgx.Tx, call Call, response proto.Message) error {
	sealed, err := call.seal(response)
	if err != nil {
		return err
	}
	return pg.Exec(ctx, tx,
		`UPDATE idempotency_keys SET response = $3 WHERE key_hash = $2 AND `+call.condition(),
		call.namespace(), call.keyHash(), sealed)
}

// load fills response with the first response of the key. It returns pgx.ErrNoRows if the key was
// not used within 24 hours.
func load(ctx context.Context, q pg.Querier, call Call, response proto.Message) error {
	type row struct {
		RequestMAC []byte `db:"request_mac"`
		Response   []byte `db:"response"`
	}
	found, err := pg.One[row](ctx, q, `
		SELECT request_mac, response
		FROM idempotency_keys
		WHERE key_hash = $2 AND created_at >= now() - interval '24 hours' AND `+call.condition(),
		call.namespace(), call.keyHash())
	if err != nil {
		return fmt.Errorf("looking up an idempotency key: %w", err)
	}
	if !bytes.Equal(found.RequestMAC, call.requestMAC()) {
		return apierr.IdempotencyKeyUsed
	}
	plain, err := call.sealer().Open(found.Response, "")
	if err != nil {
		return fmt.Errorf("decrypting a stored response: %w", err)
	}
	return proto.Unmarshal(plain, response)
}

func (c Call) owned() bool { return c.Owner != uuid.Nil }

// condition returns the condition that selects the records of the call's namespace, $1.
func (c Call) condition() string {
	if c.owned() {
		return `owner_id = $1::uuid AND scope = $1::uuid::text`
	}
	return `scope = $1`
}

func (c Call) namespace() any {
	if c.owned() {
		return c.Owner
	}
	return c.Scope
}

func (c Call) keyHash() []byte {
	h := sha256.Sum256([]byte("idempotency key\x00" + c.Key))
	return h[:]
}

// requestMAC returns a MAC of the request with the key as its secret. Equal requests have equal
// MACs.
func (c Call) requestMAC() []byte {
	hash := hmac.New(sha256.New, []byte(c.Key))
	hash.Write([]byte(c.Request.ProtoReflect().Descriptor().FullName()))
	hash.Write([]byte{0})
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(withoutHeaders(c.Request))
	if err != nil {
		// Only invalid UTF-8 makes this fail, and both the gateway and gRPC reject that. An
		// empty body still compares safely.
		body = nil
	}
	hash.Write(body)
	return hash.Sum(nil)
}

func (c Call) seal(response proto.Message) ([]byte, error) {
	plain, err := proto.Marshal(response)
	if err != nil {
		return nil, fmt.Errorf("encoding a response: %w", err)
	}
	return c.sealer().Seal(plain, "")
}

func (c Call) sealer() seal.Key { return seal.NewKey(c.Key, "idempotency seal") }

// withoutHeaders returns a copy without the fields that are sent in headers. They may differ
// between two attempts.
func withoutHeaders(m proto.Message) proto.Message {
	c := proto.Clone(m)
	r := c.ProtoReflect()
	r.Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if proto.GetExtension(f.Options(), restv1.E_Header).(string) != "" {
			r.Clear(f)
		}
		return true
	})
	return c
}
