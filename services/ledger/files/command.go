package files

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/internal/pg"
)

// Move returns the command `ledger move-files`, which moves all attachments and receipt images into
// the store of FILES_URL or back into PostgreSQL. It can be interrupted at any time, and continues
// where it ended. The ledger may serve at the same time: a file is always readable.
func Move(migrations fs.FS) app.Command {
	return app.Command{Name: "move-files", Run: func(
		ctx context.Context, databaseURL string, args []string, out io.Writer,
	) error {
		flags := flag.NewFlagSet("move-files", flag.ContinueOnError)
		flags.SetOutput(out)
		to := flags.String("to", "", "s3 or postgres")
		if err := parse(flags, args); err != nil {
			return err
		}
		if *to != "s3" && *to != "postgres" {
			return fmt.Errorf("-to is %q: must be s3 or postgres", *to)
		}
		return with(ctx, databaseURL, migrations, out, func(m *mover) error {
			return m.moveAll(ctx, *to == "s3", out)
		})
	}}
}

func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return nil
}

// with calls run with the database and the store of FILES_URL.
func with(
	ctx context.Context, databaseURL string, migrations fs.FS, out io.Writer,
	run func(*mover) error,
) error {
	config, err := app.ParseEnv[struct {
		FilesURL string `env:"FILES_URL,required,notEmpty"`
	}](nil)
	if err != nil {
		return err
	}
	log := app.NewLogger(out, slog.LevelInfo)
	store, err := Open(config.FilesURL, log)
	if err != nil {
		return err
	}
	db, err := pg.Open(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := pg.CheckMigrated(ctx, db, migrations); err != nil {
		return err
	}
	return run(&mover{db: db, store: store, log: log})
}

// moveAll moves all files in one direction. It repeats the run until it finds none, because other
// processes create files meanwhile.
func (m *mover) moveAll(ctx context.Context, toStore bool, out io.Writer) error {
	switch {
	case toStore && m.store.readOnly:
		return errors.New("FILES_URL has readonly=true: remove it to move files into the store")
	case !toStore && !m.store.readOnly:
		return errors.New("FILES_URL has no readonly=true: add it here and to the ledger, " +
			"which would move the files into the store again")
	}
	total := 0
	for {
		var done result
		var err error
		if toStore {
			done, err = m.toStore(ctx, uuid.Nil)
		} else {
			done, err = m.toPostgres(ctx)
		}
		total += done.moved
		if err == nil && done.moved > 0 {
			continue
		}
		_, printed := fmt.Fprintf(out, "%d files moved, %d not\n", total, done.failed)
		if printed != nil {
			return printed
		}
		if err == nil && done.failed > 0 {
			err = fmt.Errorf("%d files have a wrong content or none: "+
				"restore them from a backup, or delete them", done.failed)
		}
		return err
	}
}

// Check returns the command `ledger check-files`, which reads the object of each file and compares
// its hash, and then counts the objects in the bucket that no row names. With -forget, Sweep
// removes these after Retention.
func Check(migrations fs.FS) app.Command {
	return app.Command{Name: "check-files", Run: func(
		ctx context.Context, databaseURL string, args []string, out io.Writer,
	) error {
		flags := flag.NewFlagSet("check-files", flag.ContinueOnError)
		flags.SetOutput(out)
		forget := flags.Bool("forget", false,
			"let the ledger remove the objects that no file names, after a day")
		if err := parse(flags, args); err != nil {
			return err
		}
		return with(ctx, databaseURL, migrations, out, func(m *mover) error {
			return m.check(ctx, *forget, out)
		})
	}}
}
