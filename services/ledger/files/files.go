// Package files keeps the content of attachments and receipt images in an object store, if
// FILES_URL names one (ADR 127).
//
// A file is always written to PostgreSQL, in the database transaction of its row. Move then copies
// the content to the store, reads it back, compares its hash, and in one database transaction
// replaces the content by the object's id. So a write never waits for the store, and the row names
// an object only after it is complete. Reading tries no other place: the row says where the content
// is.
//
// The key of an object is OWNER/OBJECT. The object's id is random and never used again, and the
// owner is the owner of the row, so a row cannot name an object of another user.
//
// Each object in the store is named by one row, or listed in the table unreferenced_objects: Move
// lists it before it writes it, and triggers list it when its row is deleted. Sweep removes listed
// objects after Retention. Its statement checks again that no row names them. A process that ends
// at any point therefore leaves at most a listed object.
//
//   - files.go: the URL. store.go: reads, writes and removes objects
//   - move.go: moves files in both directions. sweep.go: removes unreferenced objects
//   - background.go: moves new files, as part of the ledger, and counts them. command.go, check.go:
//     the commands
//   - store_*.go: the statements
package files

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

const (
	// defaultRegion is part of signatures. Most stores other than Amazon's accept it.
	defaultRegion = "us-east-1"
	// connectTime limits a connection to the store, and attempts a request.
	connectTime = 5 * time.Second
	attempts    = 3
)

// errURL describes the accepted values of FILES_URL. The error does not contain the value, which
// may contain a password by mistake.
var errURL = errors.New("FILES_URL must be s3://HOST/BUCKET, with the optional parameters " +
	"region=NAME, http=true and readonly=true, and without a password: " +
	"the key is in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")

// Store is a bucket. The nil *Store is valid: it has no objects, so all files are in PostgreSQL.
type Store struct {
	client minio.Core
	bucket string
	// readOnly prevents Move, to the store, and Sweep.
	readOnly bool
	log      *slog.Logger
	// wait is the time after which a request without progress ends.
	wait time.Duration
	// moves counts files. It discards its values unless Measure was called.
	moves metric.Int64Counter
}

// Open returns the store of a FILES_URL, and nil for an empty one. It does not connect. The
// credentials come from the environment or the files of Amazon's tools.
func Open(rawURL string, log *slog.Logger) (*Store, error) {
	if rawURL == "" {
		return nil, nil
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errURL
	}
	bucket := strings.TrimPrefix(u.Path, "/")
	if u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" ||
		bucket == "" || strings.Contains(bucket, "/") {
		return nil, errURL
	}
	region, flags := defaultRegion, map[string]bool{}
	for name, values := range u.Query() {
		switch {
		case name == "region" && len(values) == 1 && values[0] != "":
			region = values[0]
		case (name == "http" || name == "readonly") && len(values) == 1 && values[0] == "true":
			flags[name] = true
		default:
			return nil, errURL
		}
	}
	transport, err := newTransport(!flags["http"])
	if err != nil {
		return nil, err
	}
	client, err := minio.NewCore(u.Host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{},
		}),
		Secure: !flags["http"], Transport: transport, Region: region, MaxRetries: attempts,
	})
	if err != nil {
		return nil, errURL
	}
	return &Store{
		client: *client, bucket: bucket, readOnly: flags["readonly"], log: log,
		wait: 15 * time.Second, moves: noop.Int64Counter{},
	}, nil
}

// newTransport returns minio's transport, which verifies certificates, with shorter timeouts.
func newTransport(secure bool) (http.RoundTripper, error) {
	t, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("setting up the connection to the store of files: %w", err)
	}
	t.DialContext = (&net.Dialer{Timeout: connectTime}).DialContext
	t.TLSHandshakeTimeout = connectTime
	return t, nil
}
