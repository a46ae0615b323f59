package telemetry

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheDashboardAndTheAlertsAskForWhatThereIs asks after everything has happened once that is measured.
//
//nolint:paralleltest // It breaks the engine that others use.
func TestTheDashboardAndTheAlertsAskForWhatThereIs(t *testing.T) {
	p := newPerson(t)
	p.earn(1)
	p.upload(1)
	install(t, "false")
	p.upload(1)
	install(t, "tesseract")
	prometheus := newPrometheus(t)
	prometheus.scrape(10 * time.Minute)

	asked := map[string]bool{}
	for _, expr := range expressions(t) {
		for _, name := range metricsIn(t, expr) {
			asked[name] = true
		}
	}
	require.NotEmpty(t, asked)
	for name := range asked {
		require.NotEmpty(t, prometheus.query(name), name)
	}
}

// expressions are all that the dashboard and the alerts ask.
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
