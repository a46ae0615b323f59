// Command bench measures Coffer against raw Postgres: pgbench doing the work of one create as one statement, on the same
// server with the same tables. It alternates between the two for several rounds and prints medians and their ratio;
// absolute figures say more about the machine.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/deploy/local"
	"github.com/coffer-budget/coffer/internal/app"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const (
	users  = 64
	someID = "0199f0c5-0000-7000-8000-000000000000"
)

// yardstick is the work of one create: ownership, row, balance, totals, event. The ids are those of prepare.
const yardstick = `\set n random(1, %d)
WITH item AS MATERIALIZED (
	SELECT gen_random_uuid() AS id, o.id AS owner_id, o.id AS wallet_id, o.id AS category_id
	FROM (SELECT lpad(to_hex(:n::bigint), 32, '0')::uuid AS id) AS o
	WHERE EXISTS (SELECT FROM ledger.wallets w WHERE w.owner_id = o.id AND w.id = o.id)
		AND EXISTS (SELECT FROM ledger.categories c WHERE c.owner_id = o.id AND c.id = o.id)
), balance AS (
	INSERT INTO ledger.wallet_balances AS b (owner_id, wallet_id, currency, amount_minor)
	SELECT owner_id, wallet_id, 'EUR', -1230 FROM item
	ON CONFLICT (owner_id, wallet_id, currency) DO UPDATE SET amount_minor = b.amount_minor + EXCLUDED.amount_minor
), total AS (
	INSERT INTO ledger.monthly_totals AS m (owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor, transaction_count)
	SELECT owner_id, '2026-03-01', wallet_id, category_id, 'EUR', 0, 1230, 1 FROM item
	ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
	SET expense_minor = m.expense_minor + EXCLUDED.expense_minor, transaction_count = m.transaction_count + EXCLUDED.transaction_count
), event AS (
	INSERT INTO ledger.outbox (id, user_id, subject, data)
	SELECT gen_random_uuid(), owner_id, 'ledger.v1.transaction.created', '\x%x'::bytea FROM item
)
INSERT INTO ledger.transactions (id, owner_id, wallet_id, category_id, currency, amount_minor, amount_e4, description, date, version, created_at, updated_at)
SELECT id, owner_id, wallet_id, category_id, 'EUR', -1230, -123000, 'Lunch', '2026-03-14', 1, now(), now() FROM item;
`

// prepare makes the yardstick's owners.
const prepare = `
INSERT INTO ledger.wallets (owner_id, id, name, currency, initial_minor, created_at, updated_at)
SELECT id, id, 'Cash', 'EUR', 0, now(), now() FROM (SELECT lpad(to_hex(n::bigint), 32, '0')::uuid AS id FROM generate_series(1, 64) n) AS o;
INSERT INTO ledger.categories (owner_id, id, name, created_at, updated_at)
SELECT id, id, 'Food', now(), now() FROM (SELECT lpad(to_hex(n::bigint), 32, '0')::uuid AS id FROM generate_series(1, 64) n) AS o;`

const sendInTurn = `
wallets = tonumber(os.getenv("WALLETS"))
n = math.random(wallets)
request = function()
	n = n % wallets + 1
	return wrk.format("POST", nil, {["Content-Type"] = "application/json", ["Authorization"] = requests[n][1]}, requests[n][2])
end
`

func main() {
	rounds := flag.Int("rounds", 3, "rounds of each measurement; the median counts")
	length := flag.Duration("length", 5*time.Second, "how long a round takes")
	clients := flag.String("clients", "8,64,256", "numbers of clients")
	profile := flag.String("cpuprofile", "", "write where Coffer's time went to this file, for go tool pprof")
	flag.Parse()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	app.RelaxGC()
	if *profile != "" {
		file, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(file)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
	err := run(context.Background(), *rounds, *length, strings.Split(*clients, ","))
	pprof.StopCPUProfile()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, length time.Duration, clients []string) (err error) {
	dir, err := os.MkdirTemp("", "coffer-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}
	const free = "127.0.0.1:0"
	stack, err := local.Start(ctx, local.Config{
		DataDir: filepath.Join(dir, "data"), HTTPAddr: free, AuthAddr: free, LedgerAddr: free, BudgetAddr: free, OCRAddr: free, NATSAddr: free,
		Environment: map[string]string{"RATE_LIMIT": "0"},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stack.Stop()) }()
	b := bench{stack: stack, dir: dir, length: length}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	fmt.Println("| clients | wallets | Coffer, creates/s | p99 | pgbench, creates/s | ratio |\n|---|---|---|---|---|---|")
	for _, c := range clients {
		n, err := strconv.Atoi(c)
		if err != nil {
			return fmt.Errorf("-clients: %w", err)
		}
		if err := b.compare(ctx, rounds, n, users); err != nil {
			return err
		}
	}
	return b.compare(ctx, rounds, users, 1)
}

type bench struct {
	stack  *local.Stack
	dir    string
	length time.Duration
	// script tells wrk what to send.
	script string
}

// compare runs both in turn, so that whatever else the machine does meets both. wallets is how many users they write for.
func (b *bench) compare(ctx context.Context, rounds, clients, wallets int) error {
	var ours, theirs, slow, ratios []float64
	for range rounds {
		rate, p99, err := b.creates(ctx, clients, wallets)
		if err != nil {
			return err
		}
		raw, err := b.pgbench(ctx, clients, wallets)
		if err != nil {
			return err
		}
		ours, theirs, slow, ratios = append(ours, rate), append(theirs, raw), append(slow, p99), append(ratios, rate/raw)
	}
	fmt.Printf("| %d | %d | %.0f | %.1f ms | %.0f | %.2f |\n", clients, wallets, median(ours), median(slow), median(theirs), median(ratios))
	return nil
}

// creates lets wrk post transactions of many users over as many connections, each as fast as it is answered.
func (b *bench) creates(ctx context.Context, clients, wallets int) (rate, p99 float64, err error) {
	wrk := exec.CommandContext(ctx, "wrk", "-t", "2", "-c", strconv.Itoa(clients), "-d", b.length.String(), "--latency",
		"-s", b.script, b.stack.URL+"/api/v1/transaction")
	wrk.Env = append(os.Environ(), "WALLETS="+strconv.Itoa(wallets))
	out, err := wrk.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("wrk: %w\n%s", err, out)
	}
	perSecond, slow := wrkRate.FindSubmatch(out), wrkSlow.FindSubmatch(out)
	if perSecond == nil || slow == nil || bytes.Contains(out, []byte("Non-2xx")) || bytes.Contains(out, []byte("Socket errors")) {
		return 0, 0, fmt.Errorf("wrk met errors:\n%s", out)
	}
	took, err := time.ParseDuration(string(slow[1]))
	if err != nil {
		return 0, 0, fmt.Errorf("wrk: %w", err)
	}
	rate, err = strconv.ParseFloat(string(perSecond[1]), 64)
	return rate, float64(took) / float64(time.Millisecond), err
}

var (
	wrkRate = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	wrkSlow = regexp.MustCompile(`99%\s+([0-9.]+[a-z]+)`)
)

var tps = regexp.MustCompile(`tps = ([0-9.]+)`)

func (b *bench) pgbench(ctx context.Context, clients, wallets int) (float64, error) {
	event, err := anypb.New(&ledgerv1.TransactionCreated{OwnerId: someID, Transaction: &ledgerv1.Transaction{
		Id: someID, Amount: "-12.30", Description: "Lunch", Date: "2026-03-14T00:00:00.000Z", Currency: "EUR", WalletId: someID,
		CategoryId: someID, Type: "expense", CreatedAt: "2026-03-14T00:00:00.000Z", UpdatedAt: "2026-03-14T00:00:00.000Z",
	}})
	if err != nil {
		return 0, err
	}
	data, err := proto.Marshal(event)
	if err != nil {
		return 0, err
	}
	script := filepath.Join(b.dir, "create.sql")
	if err := os.WriteFile(script, fmt.Appendf(nil, yardstick, wallets, data), 0o600); err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, "pgbench", "-n", "-M", "prepared", "-f", script, "-c", strconv.Itoa(min(clients, 90)), "-j", "2",
		"-T", strconv.Itoa(int(b.length.Seconds())), b.stack.Databases[""]).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w\n%s", err, out)
	}
	match := tps.FindSubmatch(out)
	if match == nil {
		return 0, fmt.Errorf("pgbench told no rate:\n%s", out)
	}
	return strconv.ParseFloat(string(match[1]), 64)
}

// prepare makes users with a wallet and a category each, and a request of each to repeat.
func (b *bench) prepare(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, b.stack.Databases[""])
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, prepare); err != nil {
		return err
	}
	var requests strings.Builder
	requests.WriteString("requests = {}\n")
	for i := range users {
		email := fmt.Sprintf("bench%d@example.com", i)
		var login struct{ AccessToken string }
		var wallet struct{ Wallet struct{ ID string } }
		var category struct{ Category struct{ ID string } }
		err := errors.Join(
			b.post(ctx, "auth/register", "", map[string]any{"name": "Bench", "email": email, "password": "a long enough secret"}, nil),
			b.post(ctx, "auth/login", "", map[string]any{"email": email, "password": "a long enough secret"}, &login),
			b.post(ctx, "wallet", login.AccessToken, map[string]any{"name": "Cash", "currency": "EUR"}, &wallet),
			b.post(ctx, "categories", login.AccessToken, map[string]any{"name": "Food"}, &category))
		if err != nil {
			return err
		}
		body, err := json.Marshal(map[string]any{
			"amount": 12.3, "type": "expense", "currency": "EUR", "date": "2026-03-14", "description": "Lunch",
			"walletId": wallet.Wallet.ID, "categoryId": category.Category.ID,
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(&requests, "requests[%d] = {%q, %q}\n", i+1, "Bearer "+login.AccessToken, body)
	}
	b.script = filepath.Join(b.dir, "create.lua")
	return os.WriteFile(b.script, []byte(requests.String()+sendInTurn), 0o600)
}

func (b *bench) post(ctx context.Context, path, token string, body, answer any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.stack.URL+"/api/v1/"+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
