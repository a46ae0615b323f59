package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/devstack"
)

// bannerText is a format. Its arguments are numbered because some occur twice.
const bannerText = `
Coffer is ready, %.1[1]f s after the start.

  REST       %[2]s/api/v1
  Docs       %[2]s/docs
  gRPC       auth   %[3]s    ledger %[4]s
             budget %[5]s    ocr    %[6]s
  Events     %[7]s (NATS; user and password in secrets.json)
  Metrics    http://%[8]s/metrics
  Mails      %[11]s
  Database   psql "$(cat %[9]s/database-url)"
  Data       %[9]s
  Log        %[9]s/coffer.log
%[10]s
Try it:
  curl -s %[2]s/api/v1/auth/register -H 'Content-Type: application/json' \
    -d '{"name":"Ada","email":"ada@example.com","password":"correct horse battery staple"}'
  grpcurl -plaintext %[4]s list    # make grpcurl puts it into .bin/

Ctrl-C stops everything. The data remain.
`

// banner returns the text for the terminal when the stack is ready: its addresses, and notes about
// missing programs.
func banner(running *devstack.Stack, config devstack.Config, took time.Duration) string {
	var notes strings.Builder
	if running.PostgresDir != filepath.Join(config.DataDir, "postgres") {
		fmt.Fprintf(
			&notes,
			"\nPostgreSQL's data are in %s, because the user that runs it may not enter %s.\n",
			running.PostgresDir, config.DataDir,
		)
	}
	// make run installs these programs; a program started without make may lack them.
	for _, tool := range []struct{ program, without, packages string }{
		{"tesseract", "photos of receipts", "tesseract-ocr"},
		{"pdftotext", "receipts in PDF", "poppler-utils"},
		{"heif-convert", "photos in HEIC", "libheif-examples"},
	} {
		if _, err := exec.LookPath(tool.program); err != nil {
			fmt.Fprintf(&notes,
				"\n%s is not installed, so %s cannot be read: apt-get install %s, or see "+
					"devstack/install.sh.\n",
				tool.program, tool.without, tool.packages)
		}
	}
	return fmt.Sprintf(bannerText, took.Seconds(), running.URL, running.GRPC["auth"],
		running.GRPC["ledger"], running.GRPC["budget"], running.GRPC["ocr"],
		config.NATSAddr, config.MetricsAddr, config.DataDir, notes.String(),
		mailPage(running))
}

// mailPage returns the page of the mailbox, or where mails go instead.
func mailPage(running *devstack.Stack) string {
	if running.Mailbox == nil {
		return "sent to SMTP_URL, or not sent without it"
	}
	return strings.Replace(running.MailPage, "127.0.0.1", "localhost", 1)
}
