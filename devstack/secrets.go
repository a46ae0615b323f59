package devstack

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/coffer-budget/coffer/internal/mtls"
)

// secrets are created at the first start and stored with the data, in secrets.json. All of them are
// random texts of rand.Text, with at least 128 bits.
type secrets struct {
	// ServiceKey authenticates RPCs between services and encrypts values
	// (docs/configuration.md).
	ServiceKey string `json:"serviceKey"`
	// NATS is the password of the user coffer.
	NATS string `json:"nats"`
	// Passwords maps PostgreSQL's roles to their passwords. pgserver stores the password of the
	// superuser.
	Passwords map[string]string `json:"passwords"`
}

// loadSecrets reads the secrets, and creates missing ones. Only the user can read the file.
func loadSecrets(dir string) (secrets, error) {
	name := filepath.Join(dir, secretsFile)
	var stored secrets
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return secrets{}, fmt.Errorf("reading the passwords in %s: %w", name, err)
	}
	if !stored.fill() {
		return stored, nil
	}
	text, err = json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return secrets{}, fmt.Errorf("encoding the passwords: %w", err)
	}
	// A rename is atomic: an interruption leaves the old file or the new one.
	err = errors.Join(os.WriteFile(name+".new", append(text, '\n'), 0o600),
		os.Rename(name+".new", name))
	if err != nil {
		return secrets{}, fmt.Errorf("storing the passwords: %w", err)
	}
	return stored, nil
}

// fill creates missing secrets and reports whether there were any. A newer release may need further
// ones.
func (s *secrets) fill() bool {
	changed := false
	if s.Passwords == nil {
		s.Passwords = map[string]string{}
	}
	existingOrNew := func(old string) string {
		if old != "" {
			return old
		}
		changed = true
		return rand.Text()
	}
	s.ServiceKey, s.NATS = existingOrNew(s.ServiceKey), existingOrNew(s.NATS)
	for _, role := range roles() {
		s.Passwords[role] = existingOrNew(s.Passwords[role])
	}
	return changed
}

// certificateLife exceeds the run time of a stack. Each start issues new certificates.
const certificateLife = 365 * 24 * time.Hour

// issueCertificates issues a certificate for each service, the gateway and NATS, from a new
// authority whose key is not stored. It returns nil if MTLS is off.
func issueCertificates(dir string, wanted bool) (map[string]mtls.Config, error) {
	if !wanted {
		return nil, nil
	}
	authority, err := mtls.NewAuthority(time.Now)
	if err != nil {
		return nil, err
	}
	issued := map[string]mtls.Config{}
	for _, name := range []string{"auth", "ocr", "ledger", "budget", "gateway", "nats"} {
		folder := filepath.Join(dir, "tls", name)
		if issued[name], err = authority.Issue(folder, name, certificateLife); err != nil {
			return nil, fmt.Errorf("issuing the certificate of %s: %w", name, err)
		}
	}
	return issued, nil
}

// lock prevents a second stack on the same data. The kernel releases the lock when the process
// ends.
func lock(dir string) (unlock func() error, err error) {
	name := filepath.Join(dir, "lock")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("the data in %s belong to another user: "+
			"run Coffer as that user, or set DATA_DIR to another folder", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the lock file: %w", err)
	}
	// The lock, unlike the existence of the file, does not outlive the process.
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(name)
		err := fmt.Errorf("another Coffer (process %s) is running with the data in %s: "+
			"stop it, or set DATA_DIR to another folder", strings.TrimSpace(string(holder)), dir)
		return nil, errors.Join(err, file.Close())
	}
	if err := errors.Join(file.Truncate(0),
		writeAt(file, strconv.Itoa(os.Getpid())+"\n")); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the lock file: %w", err), file.Close())
	}
	return file.Close, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}
