package jobs_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// TestMeasure reads the metrics of a table with two unfinished jobs, before and after one of them
// has failed.
func TestMeasure(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	s := setup(t)
	s.add(t, uuid.New(), uuid.New(), "queued", 8)
	s.add(t, uuid.New(), uuid.New(), "deleting", 0)
	s.chunk = func(context.Context, jobs.Job) (bool, error) { return false, errors.New("broken") }
	q := s.queue()
	stop, err := q.Measure()
	require.NoError(t, err)

	got := values(t, reader)
	require.InDelta(t, 100, got["coffer.jobs.age queued"], 50)
	require.InDelta(t, 100, got["coffer.jobs.age deleting"], 50)
	delete(got, "coffer.jobs.age queued")
	delete(got, "coffer.jobs.age deleting")
	require.Equal(t, map[string]int64{
		"coffer.jobs queued": 1, "coffer.jobs deleting": 1, "coffer.jobs.failures INTERNAL": 0,
	}, got)
	q.RunQueued(t.Context())
	got = values(t, reader)
	require.EqualValues(t, 1, got["coffer.jobs.failures "+apierr.Internal.Reason])
	require.NotContains(t, got, "coffer.jobs queued")

	// Without the database, the gauges have no value.
	pgtest.Exec(t, s, `DROP TABLE tasks`)
	require.Equal(t, map[string]int64{"coffer.jobs.failures INTERNAL": 1}, values(t, reader))
	require.NoError(t, stop())
}

// values returns the metrics of the table tasks by name, and status or reason.
func values(t *testing.T, reader metric.Reader) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	found := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			var points []metricdata.DataPoint[int64]
			switch data := m.Data.(type) {
			case metricdata.Gauge[int64]:
				points = data.DataPoints
			case metricdata.Sum[int64]:
				points = data.DataPoints
			}
			for _, p := range points {
				for _, key := range []attribute.Key{"status", "reason"} {
					if label, ok := p.Attributes.Value(key); ok {
						found[m.Name+" "+label.AsString()] = p.Value
					}
				}
			}
		}
	}
	return found
}
