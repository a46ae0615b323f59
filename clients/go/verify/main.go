// Command verify verifies the archive of an account.
//
//	verify coffer-account-2026-11-28.zip
//
// prints the files with their rows and sizes. It fails if the archive is incomplete, or if a file
// differs from the manifest.
package main

import (
	"fmt"
	"os"

	"github.com/coffer-budget/coffer/clients/go/archive"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: verify ARCHIVE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "verify:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	a, err := archive.Open(f, info.Size())
	if err != nil {
		return err
	}
	for _, file := range a.Files {
		fmt.Printf("%8d rows %12d bytes  %s\n", file.Rows, file.Bytes, file.Path)
	}
	fmt.Printf("The archive of %s is complete.\n", a.FinishedAt.Format("2006-01-02 15:04:05 MST"))
	return nil
}
