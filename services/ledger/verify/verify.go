// Package verify compares the stored balances and monthly totals with sums that it recomputes from
// the transactions. It also compares the values of transactions that follow from their parts,
// attachments and legs.
//
// Command is `ledger verify`: it reports all differences, and repairs them if asked to. Scrubber
// verifies all owners continuously in the background, at low cost, and publishes the number of
// owners that differ as a metric. Only a defect or a change of the tables by hand can cause a
// difference.
//
// verify.go has the command and the repair, scrub.go the background check, store_verify.go the SQL
// of sums, and store_details.go the SQL of transactions. Each statement reads one owner on one
// snapshot, so it never reports a write that is not yet committed. A repair locks the owner like a
// merge, so it cannot lose a write.
package verify

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// Command returns the command `ledger verify`. It recomputes the balances and monthly totals of
// each owner from the transactions and prints the differences. With -repair it also replaces them,
// each owner in one transaction that holds the owner's lock, so that the service may run at the
// same time. Parts and legs that are missing must be corrected by hand: the command prints them as
// not repaired. It returns an error if differences remain, or if the schema lacks a migration.
// Memory use is proportional to the number of sums of one owner. An operator runs it after the
// alert, or after changing rows by hand (docs/operations.md).
func Command(
	migrations fs.FS,
) func(ctx context.Context, databaseURL string, args []string, out io.Writer) error {
	return func(ctx context.Context, databaseURL string, args []string, out io.Writer) error {
		flags := flag.NewFlagSet("verify", flag.ContinueOnError)
		flags.SetOutput(out)
		repair := flags.Bool("repair", false,
			"replace balances and totals that differ with recomputed ones")
		if err := flags.Parse(args); err != nil {
			return err
		}
		if flags.NArg() > 0 {
			return fmt.Errorf("unexpected argument %q", flags.Arg(0))
		}
		db, err := pg.Open(ctx, databaseURL)
		if err != nil {
			return err
		}
		defer db.Close()
		if err := pg.CheckMigrated(ctx, db, migrations); err != nil {
			return err
		}
		return verifyAll(ctx, db, *repair, out)
	}
}

// verifyAll checks all owners by id, and repairs the owners that differ if repair is set. It prints
// a line per difference and a summary to out. It reads one owner per statement, so no transaction
// stays open for the whole run.
func verifyAll(ctx context.Context, db *pgxpool.Pool, repair bool, out io.Writer) error {
	checked, differing, remaining := 0, 0, 0
	for owner := uuid.Nil; ; checked++ {
		var err error
		owner, err = selectOwnerAfter(ctx, db, owner)
		if errors.Is(err, pgx.ErrNoRows) {
			break
		}
		if err != nil {
			return err
		}
		differences, err := compare(ctx, db, owner)
		if err != nil {
			return err
		}
		if len(differences) == 0 {
			continue
		}
		differing++
		if !repair {
			remaining++
			if err := report(out, owner, "", differences); err != nil {
				return err
			}
			continue
		}
		left, err := repairAndReport(ctx, db, owner, out)
		if err != nil {
			return err
		}
		if left {
			remaining++
		}
	}
	action := "differ"
	if repair {
		action = "repaired"
		differing -= remaining
	}
	_, err := fmt.Fprintf(out, "%d owners checked, %d %s\n", checked, differing, action)
	if err != nil {
		return err
	}
	switch {
	case remaining == 0:
		return nil
	case repair:
		return fmt.Errorf("transactions of %d owners must be corrected by hand", remaining)
	}
	return fmt.Errorf("balances, totals or transactions of %d owners differ; "+
		"verify -repair replaces what follows from other rows", remaining)
}

func compare(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]fmt.Stringer, error) {
	sums, err := selectDifferences(ctx, q, owner)
	if err != nil {
		return nil, err
	}
	details, err := selectDetails(ctx, q, owner)
	if err != nil {
		return nil, err
	}
	var all []fmt.Stringer
	for _, d := range sums {
		all = append(all, d)
	}
	for _, d := range details {
		all = append(all, d)
	}
	return all, nil
}

// report prints a line per difference. prefix says what happened to them.
func report(out io.Writer, owner uuid.UUID, prefix string, differences []fmt.Stringer) error {
	for _, d := range differences {
		if _, err := fmt.Fprintf(out, "owner %s: %s%s\n", owner, prefix, d); err != nil {
			return err
		}
	}
	return nil
}

// repairAndReport repairs an owner, prints what it removed and what is left, and reports whether
// something is left.
func repairAndReport(
	ctx context.Context, db *pgxpool.Pool, owner uuid.UUID, out io.Writer,
) (left bool, err error) {
	differences, err := RepairOwner(ctx, db, owner)
	if err != nil {
		return false, err
	}
	if err := report(out, owner, "", differences); err != nil {
		return false, err
	}
	remaining, err := compare(ctx, db, owner)
	if err != nil {
		return false, err
	}
	return len(remaining) > 0, report(out, owner, "not repaired: ", remaining)
}

// RepairOwner replaces an owner's balances, totals and details with recomputed ones, and returns
// the differences that it found. It compares again, because writes may have ended since the first
// comparison. Requests of the owner wait during the repair, and other owners are not affected.
func RepairOwner(
	ctx context.Context, db *pgxpool.Pool, owner uuid.UUID,
) (differences []fmt.Stringer, err error) {
	err = pg.InTx(ctx, db, func(tx pgx.Tx) error {
		if err := posting.LockOwner(ctx, tx, owner); err != nil {
			return err
		}
		if differences, err = compare(ctx, tx, owner); err != nil {
			return err
		}
		for _, repair := range []func(context.Context, pg.Querier, uuid.UUID) error{
			repairDetails, repairBalances, repairTransfers, repairTotals,
		} {
			if err := repair(ctx, tx, owner); err != nil {
				return err
			}
		}
		return nil
	})
	return differences, err
}

// String describes the difference in major units, for operators.
func (d Difference) String() string {
	format := money.CurrencyOf(d.Currency).Format
	income, computedIncome := format(d.StoredIncome), format(d.ComputedIncome)
	if d.Month == nil {
		return fmt.Sprintf("balance of wallet %s is %s %s, its transactions add up to %s",
			d.WalletID, income, d.Currency, computedIncome)
	}
	month := d.Month.Format("2006-01")
	expense, computedExpense := format(d.StoredExpense), format(d.ComputedExpense)
	if d.CategoryID == nil {
		return fmt.Sprintf("transfers of %s in wallet %s are +%s -%s %s with %d legs, "+
			"they add up to +%s -%s with %d", month, d.WalletID, income, expense, d.Currency,
			d.StoredCount, computedIncome, computedExpense, d.ComputedCount)
	}
	totals := fmt.Sprintf("total of %s in wallet %s and category %s is +%s -%s %s "+
		"of %d transactions, they add up to +%s -%s of %d", month, d.WalletID, *d.CategoryID,
		income, expense, d.Currency, d.StoredCount,
		computedIncome, computedExpense, d.ComputedCount)
	if d.StoredRefund == d.ComputedRefund && d.StoredFurther == d.ComputedFurther {
		return totals
	}
	return fmt.Sprintf("%s; its refunds are %s with %d further parts, they add up to %s with %d",
		totals, format(d.StoredRefund), d.StoredFurther,
		format(d.ComputedRefund), d.ComputedFurther)
}
