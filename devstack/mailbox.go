package devstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/auth/mailbox"
)

// mailboxLog is the file in the data directory with the links of all mails.
const mailboxLog = "mailbox.log"

// mailPageTimeout limits reading the header of a request for the page.
const mailPageTimeout = 10 * time.Second

// startMailbox starts the server that receives the mails of auth, unless its address is empty or
// the environment names another server.
func (s *Stack) startMailbox(ctx context.Context, config Config) error {
	if config.MailAddr == "" || config.Environment["SMTP_URL"] != "" {
		return nil
	}
	mails, err := listen(ctx, config.MailAddr, "the mailbox", "MAIL_ADDR")
	if err != nil {
		return err
	}
	page, err := listen(ctx, config.MailPageAddr, "the page of the mailbox", "MAIL_PAGE_ADDR")
	if err != nil {
		return errors.Join(err, mails.Close())
	}
	log, err := os.OpenFile(filepath.Join(config.DataDir, mailboxLog),
		os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return errors.Join(fmt.Errorf("opening the log of the mailbox: %w", err), mails.Close(),
			page.Close())
	}
	s.tidy = append(s.tidy, log.Close)
	s.Mailbox, s.smtp = &mailbox.Mailbox{Log: log}, reachable(mails.Addr())
	s.MailPage = "http://" + reachable(page.Addr())
	// The mailbox ends with the stack, not with the context of its start.
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- s.Mailbox.Serve(serving, mails) }()
	pages := &http.Server{Handler: mailPages{s.Mailbox}, ReadHeaderTimeout: mailPageTimeout}
	go func() { _ = pages.Serve(page) }()
	s.tidy = append(s.tidy, func() error {
		cancel()
		return errors.Join(<-ended, pages.Close())
	})
	return nil
}

// mailEnvironment returns the variables with which auth sends its mails to the mailbox. Addresses
// are not verified by default, so that the examples of the documentation work without a mail.
func (s *Stack) mailEnvironment(config Config) map[string]string {
	if s.Mailbox == nil {
		return nil
	}
	verification := "off"
	if chosen := config.Environment["EMAIL_VERIFICATION"]; chosen != "" {
		verification = chosen
	}
	return map[string]string{
		"EMAIL_VERIFICATION": verification,

		"SMTP_URL":  "smtp://" + s.smtp + "?starttls=off",
		"MAIL_FROM": "Coffer <no-reply@localhost>",
		// Passkeys need a domain.
		"PUBLIC_URL": strings.Replace(s.URL, "127.0.0.1", "localhost", 1),
	}
}
