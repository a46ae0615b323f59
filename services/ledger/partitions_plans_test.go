package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// planNode is a node of a plan in PostgreSQL's JSON format.
type planNode struct {
	NodeType    string     `json:"Node Type"`
	Schema      string     `json:"Schema"`
	Relation    string     `json:"Relation Name"`
	IndexCond   string     `json:"Index Cond"`
	RecheckCond string     `json:"Recheck Cond"`
	Filter      string     `json:"Filter"`
	Loops       float64    `json:"Actual Loops"`
	Plans       []planNode `json:"Plans"`
}

// plans collects the plans of a pool's executions: the partitions that each statement has read, and
// the tables that it reads without an owner that the planner knows.
type plans struct {
	mu sync.Mutex
	// partitions has the partitions of the execution with the most.
	partitions map[string]map[string]bool
	// ownerless has the tables whose scans have no condition owner_id = $n.
	ownerless map[string]map[string]bool
	failures  []string
	// sent has the statements that the pool sent.
	sent *tracer
}

// explained returns a pool on the same database whose executions are planned for any parameters,
// and explained. The server sends the plans as notices, also those of statements in functions.
//
// Joins are nested loops: a trigger on statements is planned for the number of rows of its first
// statement in a connection, and a hash join would read the partitions of other owners.
func explained(t *testing.T, db *pgxpool.Pool) (*pgxpool.Pool, *plans) {
	t.Helper()
	db, sent := traced(t, db)
	plans := &plans{
		partitions: map[string]map[string]bool{}, ownerless: map[string]map[string]bool{},
		sent: sent,
	}
	config := db.Config()
	config.ConnConfig.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		if _, plan, ok := strings.Cut(notice.Message, "plan:\n"); ok {
			plans.add(plan)
		}
	}
	register := config.AfterConnect
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := register(ctx, conn); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, `
			LOAD 'auto_explain';
			SET auto_explain.log_min_duration = 0;
			SET auto_explain.log_analyze = on;
			SET auto_explain.log_timing = off;
			SET auto_explain.log_verbose = on;
			SET auto_explain.log_nested_statements = on;
			SET auto_explain.log_format = json;
			SET auto_explain.log_level = notice;
			SET plan_cache_mode = force_generic_plan;
			SET enable_hashjoin = off;
			SET enable_mergejoin = off`, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool, plans
}

// add adds an execution's plan.
func (p *plans) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var explained struct {
		Query string   `json:"Query Text"`
		Plan  planNode `json:"Plan"`
	}
	if err := json.Unmarshal([]byte(text), &explained); err != nil {
		p.failures = append(p.failures, fmt.Sprintf("%v: %s", err, text))
		return
	}
	touched, ownerless := map[string]bool{}, p.ownerless[explained.Query]
	if ownerless == nil {
		ownerless = map[string]bool{}
		p.ownerless[explained.Query] = ownerless
	}
	explained.Plan.walk("", touched, ownerless)
	if strings.Contains(explained.Query, ownerHidden) {
		ownerless[ownerHidden] = true
	}
	if len(touched) >= len(p.partitions[explained.Query]) {
		p.partitions[explained.Query] = touched
	}
}

// ownerGiven matches a condition that compares the owner with a parameter. The planner writes it
// for each table whose owner it can derive from a parameter of the statement.
var ownerGiven = regexp.MustCompile(`owner_id = \$\d+\b|\$\d+ = (\w+\.)?owner_id\b`)

// ownerHidden is the text of a condition whose plan looks like one with a parameter.
const ownerHidden = "owner_id = (SELECT"

// walk adds the partitions that a node and its children read, and their tables without an owner.
// above is the condition of the node above that applies to this one.
func (n planNode) walk(above string, touched, ownerless map[string]bool) {
	condition := above + n.IndexCond + n.RecheckCond + n.Filter
	if strings.HasPrefix(n.Schema, "owners_") && n.NodeType != "ModifyTable" {
		if n.Loops > 0 {
			touched[n.Schema] = true
		}
		if !ownerGiven.MatchString(condition) {
			ownerless[n.Relation] = true
		}
	}
	if n.NodeType != "Bitmap Heap Scan" {
		condition = ""
	}
	for _, child := range n.Plans {
		child.walk(condition, touched, ownerless)
	}
}
