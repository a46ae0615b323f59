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

// shared is a folder that every account can enter and that survives a reboot.
const shared = "/var/tmp"

// account is the operating system's account that runs the server.
type account struct {
	name     string
	uid, gid uint32
	// own reports that it is the account of this process.
	own bool
	// missing reports that this process runs as root and that there is no other account for the
	// server.
	missing bool
}

// ownAccount returns the account of this process. For root it returns another one, because
// PostgreSQL does not run as root.
func ownAccount() account {
	if os.Geteuid() != 0 {
		return account{
			name: nameOf(uint32(os.Geteuid())), uid: uint32(os.Geteuid()),
			gid: uint32(os.Getegid()), own: true,
		}
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

// accountOf returns the account with a uid. An account without an entry in the user database gets a
// group of the same number.
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

// ownerOf returns false on systems without uids.
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

// closedTo returns the topmost folder on the path to dir that the account may not enter, or "" if
// there is none. Folders that do not exist yet do not count, because MakeDir creates them with
// access for the account.
func closedTo(account account, dir string) string {
	if account.own {
		return ""
	}
	if parent := filepath.Dir(dir); parent != dir {
		if closed := closedTo(account, parent); closed != "" {
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
	case stat.Uid == account.uid:
		bit = 0o100
	case stat.Gid == account.gid:
		bit = 0o010
	}
	if info.Mode()&bit == 0 {
		return dir
	}
	return ""
}

// elsewhere returns the folder for a cluster that cannot be in dir. The name is a hash of dir, so
// that the next start finds it.
func elsewhere(dir string) string {
	return filepath.Join(shared,
		fmt.Sprintf("coffer-%x", sha256.Sum256([]byte(dir)))[:len("coffer-")+12])
}

// claim creates a folder in shared and verifies that this account owns it. The name is predictable,
// so another user could have created a folder or a link with it.
func claim(dir string) error {
	if err := os.Mkdir(dir, folderMode()); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if owner, ok := ownerOf(info); !ok || owner != uint32(os.Geteuid()) || !info.IsDir() {
		return fmt.Errorf("%s belongs to another user", dir)
	}
	return os.Chmod(dir, folderMode())
}

// MakeDir creates a folder for data, and its parents, with permissions that allow the server's
// account to enter it. It does not change a folder that exists.
func MakeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s is a file, not a folder: set DATA_DIR to a folder", dir)
		}
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := MakeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, folderMode()); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("creating the folder %s: %w", dir, err)
	}
	// The user's umask may have removed permissions.
	if err := os.Chmod(dir, folderMode()); err != nil {
		return fmt.Errorf("setting the permissions of the folder %s: %w", dir, err)
	}
	return nil
}

// folderMode returns the permissions of a folder that the server's account must enter. Only root
// runs the server as another account. That account may then enter the folder but not list it.
func folderMode() fs.FileMode {
	if os.Geteuid() == 0 {
		return 0o711
	}
	return 0o700
}

func credential(a account) *syscall.Credential {
	if a.own {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}
