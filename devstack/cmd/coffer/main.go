// Command coffer runs all of Coffer on this machine until Ctrl-C. It is the program of `make run`.
// docs/configuration.md lists the environment variables that configure it.
//
//	coffer
//	coffer backup FOLDER
//	coffer restore FOLDER
//
// The second form writes a backup of the running Coffer with the same settings into a new folder.
// The third form creates the data for the next start from a backup.
//
// The command contains only the terminal's part: settings, signals, the log file and the banner.
// Package devstack starts and supervises the parts. The first signal stops them in order; a second
// one ends the process immediately. Log records go to coffer.log in the data directory, and
// warnings and errors also to the terminal. Start reading with run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/coffer-budget/coffer/devstack"
	"github.com/coffer-budget/coffer/devstack/pgserver"
	"github.com/coffer-budget/coffer/internal/app"
)

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "coffer:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) == 0 {
		return run()
	}
	config, err := app.ParseEnv[devstack.Config](nil)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	switch {
	case len(args) == 2 && args[0] == "backup":
		return devstack.Backup(ctx, config, args[1])
	case len(args) == 2 && args[0] == "restore":
		return devstack.Restore(ctx, config, args[1])
	}
	return errors.New("usage: coffer [backup FOLDER | restore FOLDER]")
}

func run() error {
	app.RelaxGC()
	config, err := app.ParseEnv[devstack.Config](nil)
	if err != nil {
		return err
	}
	// The services read their settings from the environment of this process.
	config.Environment = env.ToMap(os.Environ())
	if config.DataDir, err = filepath.Abs(config.DataDir); err != nil {
		return err
	}
	logFile, err := openLog(config)
	if err != nil {
		return err
	}
	defer logFile.Close()

	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopping := make(chan struct{})
	go func() {
		<-signals
		close(stopping)
		cancel()
		<-signals
		// PostgreSQL shuts down when this process ends, and rolls back the transactions in
		// progress.
		fmt.Fprintln(os.Stderr, "\nStopped immediately.")
		os.Exit(1)
	}()

	fmt.Println("Starting PostgreSQL, NATS, the services and the gateway.")
	begin := time.Now()
	stack, err := devstack.Start(ctx, config)
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("stopped while starting")
		}
		return err
	}
	fmt.Print(banner(stack, config, time.Since(begin)))
	<-stopping
	fmt.Println("\nStopping. Press Ctrl-C again to stop immediately.")
	begin = time.Now()
	if err := stack.Stop(); err != nil {
		return err
	}
	fmt.Printf("Stopped in %.1f s. The data remain in %s.\n", time.Since(begin).Seconds(),
		config.DataDir)
	return nil
}

// openLog makes coffer.log in the data directory the default log. Warnings and errors are also
// written to the terminal.
func openLog(config devstack.Config) (*os.File, error) {
	if err := pgserver.MakeDir(config.DataDir); err != nil {
		return nil, err
	}
	opened, err := os.OpenFile(filepath.Join(config.DataDir, "coffer.log"),
		os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("the data in %s belong to another user: "+
			"run Coffer as that user, or set DATA_DIR to another folder", config.DataDir)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	// A user sees warnings immediately. Everything else would hide the addresses on the terminal.
	terminal := app.NewLogger(os.Stderr, slog.LevelWarn).Handler()
	file := app.NewLogger(opened, config.LogLevel).Handler()
	app.SetLogger(slog.New(slog.NewMultiHandler(file, terminal)))
	return opened, nil
}
