package telemetry

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMetricsExist requires that each metric in the dashboard and in the alerts exists, after
// requests that produce all of them.
//
//nolint:paralleltest // It breaks the engine that other tests use.
func TestMetricsExist(t *testing.T) {
	u := newUser(t)
	u.earn(1)
	u.upload(1)
	u.correct()
	install(t, "false")
	u.upload(1)
	install(t, "tesseract")
	_, end := stuckImport(t, u)
	defer end()
	prometheus := newPrometheus(t)
	prometheus.scrape(10 * time.Minute)

	names := map[string]bool{}
	for _, expr := range expressions(t) {
		for _, name := range metricsIn(t, expr) {
			names[name] = true
		}
	}
	require.NotEmpty(t, names)
	for name := range names {
		require.NotEmpty(t, prometheus.query(name), name)
	}
}

// expressions returns all expressions of the dashboard and of the alerts.
func expressions(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	var all []string
	for _, panel := range dashboard.Panels {
		require.NotEmpty(t, panel.Targets)
		for _, target := range panel.Targets {
			all = append(all, target.Expr)
		}
	}
	for _, rule := range rules(t) {
		all = append(all, rule.Expr)
	}
	return slices.Compact(all)
}
