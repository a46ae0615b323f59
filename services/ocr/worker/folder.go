package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// folder is a worker's folder for temporary files. If the service is killed, the kernel releases
// its lock, and another service removes the folder.
type folder struct {
	path string
	lock *os.File
}

const prefix = "coffer-ocr-"

func newFolder() (folder, error) {
	for {
		path, err := os.MkdirTemp(memoryFolder(), prefix)
		if err != nil {
			return folder{}, fmt.Errorf("creating a worker's folder: %w", err)
		}
		f, err := lockFolder(path, syscall.LOCK_EX)
		if err == nil {
			return f, nil
		}
		// Another service has locked and removed the folder before this one locked it.
		if !errors.Is(err, os.ErrNotExist) {
			err = errors.Join(err, os.Remove(path))
			return folder{}, fmt.Errorf("locking a worker's folder: %w", err)
		}
	}
}

// lockFolder locks a folder in a mode of flock. It returns os.ErrNotExist if the folder was removed
// before it was locked.
func lockFolder(path string, mode int) (folder, error) {
	lock, err := os.Open(path)
	if err != nil {
		return folder{}, err
	}
	if err := syscall.Flock(int(lock.Fd()), mode); err != nil {
		return folder{}, errors.Join(err, lock.Close())
	}
	if _, err := os.Stat(path); err != nil {
		return folder{}, errors.Join(err, lock.Close())
	}
	return folder{path: path, lock: lock}, nil
}

func (f folder) remove() {
	_ = os.RemoveAll(f.path)
	_ = f.lock.Close()
}

// removeAbandoned removes the folders of services that were killed. It skips those that it cannot
// lock.
func removeAbandoned() {
	paths, _ := filepath.Glob(filepath.Join(memoryFolder(), prefix+"*"))
	for _, path := range paths {
		if f, err := lockFolder(path, syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			f.remove()
		}
	}
}

// memoryFolder returns a folder in memory, or the default temporary folder if the system has none.
func memoryFolder() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return os.TempDir()
}
