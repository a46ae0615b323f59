package pgserver

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// shared is where an unprivileged account can always reach a folder, and which survives a restart of the machine.
const shared = "/var/tmp"

// account runs the server.
type account struct {
	name     string
	uid, gid uint32
	// own is the account that we run as ourselves.
	own bool
	// missing is returned if the process runs as root and there is no other account for the server.
	missing bool
}

// ownAccount is the one that we run as, or for root, whom Postgres refuses, another.
func ownAccount() account {
	if os.Geteuid() != 0 {
		return account{name: nameOf(uint32(os.Geteuid())), uid: uint32(os.Geteuid()), gid: uint32(os.Getegid()), own: true}
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return account{name: name, uid: uint32(uid), gid: uint32(gid)}
		}
	}
	return account{missing: true}
}

func accountOf(uid uint32) account {
	a := account{name: nameOf(uid), uid: uid, gid: uid}
	if u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil {
		if gid, err := strconv.ParseUint(u.Gid, 10, 32); err == nil {
			a.gid = uint32(gid)
		}
	}
	return a
}

func nameOf(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

func ownerOf(info fs.FileInfo) (uint32, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return stat.Uid, true
}

func (a account) give(name string) error {
	if a.own {
		return nil
	}
	return os.Chown(name, int(a.uid), int(a.gid))
}

// closedTo returns the first of the folders above and at dir that the account may not walk through, or "". What is still
// to be made will be open.
func closedTo(a account, dir string) string {
	if a.own {
		return ""
	}
	if parent := filepath.Dir(dir); parent != dir {
		if closed := closedTo(a, parent); closed != "" {
			return closed
		}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	bit := fs.FileMode(0o001)
	switch {
	case stat.Uid == a.uid:
		bit = 0o100
	case stat.Gid == a.gid:
		bit = 0o010
	}
	if info.Mode()&bit == 0 {
		return dir
	}
	return ""
}

// elsewhere is the place of a cluster that cannot be at dir.
func elsewhere(dir string) string {
	return filepath.Join(shared, fmt.Sprintf("coffer-%x", sha256.Sum256([]byte(dir)))[:len("coffer-")+12])
}

// claim makes sure that a folder with a name that anybody could have guessed is our own.
func claim(dir string) error {
	if err := os.Mkdir(dir, folderMode()); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if owner, ok := ownerOf(info); !ok || owner != uint32(os.Geteuid()) || !info.IsDir() {
		return fmt.Errorf("%s is somebody else's", dir)
	}
	return os.Chmod(dir, folderMode())
}

// MakeDir makes a folder for data, and those above it, such that the server's account can reach what is in it.
func MakeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s is a file, and should be a folder: choose another with DATA_DIR", dir)
		}
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := MakeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, folderMode()); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making the folder %s: %w", dir, err)
	}
	// The person's umask may have closed it.
	if err := os.Chmod(dir, folderMode()); err != nil {
		return fmt.Errorf("opening the folder %s: %w", dir, err)
	}
	return nil
}

// folderMode lets the server's account walk through, and nobody else look, when it is not our own.
func folderMode() fs.FileMode {
	if os.Geteuid() == 0 {
		return 0o711
	}
	return 0o700
}

// credential is nil for our own account, which needs no change.
func credential(a account) *syscall.Credential {
	if a.own {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}
