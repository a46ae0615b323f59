// Command coffer runs all of Coffer on this machine, until Ctrl-C.
//
//	coffer backup FOLDER
//
// makes a backup of the one that runs with the same settings in a new folder, and
//
//	coffer restore FOLDER
//
// makes data of a backup, for the next start.
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
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/devstack/pgserver"
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
	config.Environment = env.ToMap(os.Environ())
	if config.DataDir, err = filepath.Abs(config.DataDir); err != nil {
		return err
	}
	logFile, err := openLog(config)
	if err != nil {
		return err
	}
	defer logFile.Close()

	asked := make(chan os.Signal, 2)
	signal.Notify(asked, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopping := make(chan struct{})
	go func() {
		<-asked
		close(stopping)
		cancel()
		<-asked
		// Postgres ends with us, cleanly; what a service had in flight is rolled back.
		fmt.Fprintln(os.Stderr, "\nStopped at once.")
		os.Exit(1)
	}()

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
	fmt.Println("\nStopping; Ctrl-C again to stop at once.")
	begin = time.Now()
	if err := stack.Stop(); err != nil {
		return err
	}
	fmt.Printf("Stopped in %.1f s. The data stay in %s.\n", time.Since(begin).Seconds(), config.DataDir)
	return nil
}

// openLog sends everything to a file, and what a person should know of to the terminal too.
func openLog(config devstack.Config) (*os.File, error) {
	if err := pgserver.MakeDir(config.DataDir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(config.DataDir, "coffer.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("the data in %s belong to another user: run this as that one, or set DATA_DIR to another folder", config.DataDir)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	terminal := app.NewLogger(os.Stderr, slog.LevelWarn).Handler()
	app.SetLogger(slog.New(slog.NewMultiHandler(app.NewLogger(f, config.LogLevel).Handler(), terminal)))
	return f, nil
}
