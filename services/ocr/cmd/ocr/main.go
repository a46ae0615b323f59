// Command ocr is the program of the ocr service: it reads receipts over gRPC. It runs ocr-neural,
// and a worker for each image or PDF, as separate, confined processes. Workers run Tesseract and
// the programs for PDF and HEIF files.
//
//	ocr               runs the service until SIGTERM
//	ocr ocr-worker    reads a file; the service starts it (package worker)
//	ocr migrate       applies the migrations of the service's schema
//	ocr await-schema  waits until the schema has all migrations of this release;
//	                  `await-schema serve` then runs the service
//	ocr ready         reports with its exit code whether the running service is ready
//
// docs/configuration.md lists the environment variables. Package ocr has the code.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	// The image has no certificates of authorities, and a vision endpoint is verified.
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/ocr"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

// memoryLimit is the memory in bytes near which the garbage collector runs after every few
// allocations. Files and images would otherwise accumulate to several times their size.
const memoryLimit = 40 << 20

func main() {
	// It replaces GOMEMLIMIT, which on Kubernetes also counts the programs of the engines.
	debug.SetMemoryLimit(memoryLimit)
	// A worker that a hostile file controls must not read the password of the database in the
	// environment.
	if err := sandbox.Conceal(); err != nil {
		fmt.Fprintln(os.Stderr, "ocr: concealing the process:", err)
		os.Exit(1)
	}
	app.Main("ocr", ocr.Run, ocr.Migrations)
}
