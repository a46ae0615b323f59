package files_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/files/filestest"
)

// TestMeasure counts a file that is moved, one that is damaged in PostgreSQL, and one that the
// store does not accept, because it is down. The alerts CofferFilesNotMoved and CofferFilesDamaged
// use these counts.
func TestMeasure(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	stop, err := store.Measure()
	require.NoError(t, err)
	s := setup(t, store)
	p := newPerson(t, s)
	outcomes := func() map[string]int64 {
		// The last run fails, because the store is down.
		_, _, _ = store.ToStore(t.Context(), s.DB)
		var all metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &all))
		counts := map[string]int64{}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				data, counter := m.Data.(metricdata.Sum[int64])
				if m.Name != "ledger.files.moves" || !counter {
					continue
				}
				for _, point := range data.DataPoints {
					outcome, _ := point.Attributes.Value("outcome")
					counts[outcome.AsString()] = point.Value
				}
			}
		}
		return counts
	}

	require.Equal(t, map[string]int64{"moved": 0, "failed": 0, "damaged": 0}, outcomes())
	p.attach(t, 100)
	require.Equal(t, map[string]int64{"moved": 1, "failed": 0, "damaged": 0}, outcomes())
	id := p.attach(t, 100)
	pgtest.Exec(t, s.DB,
		`UPDATE attachment_chunks SET content = 'wrong' WHERE attachment_id = $1`, id)
	require.Equal(t, map[string]int64{"moved": 1, "failed": 0, "damaged": 1}, outcomes())
	p.detach(t, id)
	p.attach(t, 100)
	bucket.Kill()
	require.Equal(t, map[string]int64{"moved": 1, "failed": 1, "damaged": 1}, outcomes())
	require.NoError(t, stop())
}
