package telemetry

import (
	"context"
	"math"
	"os"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/teststorage"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var language = parser.NewParser(parser.Options{})

// prometheus is a Prometheus with a clock that the test sets, so that hours pass in moments.
type prometheus struct {
	t       *testing.T
	storage *teststorage.TestStorage
	engine  *promql.Engine
	now     time.Time
	// unknown is a service without instances.
	unknown string
}

func newPrometheus(t *testing.T) *prometheus {
	t.Helper()
	p := &prometheus{
		t: t, storage: teststorage.New(t), now: time.Unix(1e9, 0),
		engine: promql.NewEngine(promql.EngineOpts{
			MaxSamples: 1e7, Timeout: time.Minute, Parser: language,
		}),
	}
	return p
}

// scrape reads the metrics, and stores them for each minute of the duration as if they had not
// changed.
func (p *prometheus) scrape(quiet time.Duration) {
	p.t.Helper()
	families, err := client.DefaultGatherer.Gather()
	require.NoError(p.t, err)
	samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: model.Now()},
		families...)
	require.NoError(p.t, err)
	for end := p.now.Add(quiet); p.now.Before(end); p.now = p.now.Add(time.Minute) {
		a := p.storage.Appender(p.t.Context())
		for _, s := range samples {
			of := map[string]string{}
			for name, value := range s.Metric {
				of[string(name)] = string(value)
			}
			_, err := a.Append(0, labels.FromMap(of), p.now.UnixMilli(), float64(s.Value))
			require.NoError(p.t, err)
		}
		for service, up := range upness(p.t.Context()) {
			if service == p.unknown {
				continue
			}
			_, err := a.Append(0, labels.FromStrings(model.MetricNameLabel, "up", "job", service),
				p.now.UnixMilli(), up)
			require.NoError(p.t, err)
		}
		for series, measure := range others {
			measured := measure(p.now)
			if math.IsNaN(measured) {
				continue
			}
			_, err := a.Append(0, seriesOf(p.t, series), p.now.UnixMilli(), measured)
			require.NoError(p.t, err)
		}
		require.NoError(p.t, a.Commit())
	}
}

// query returns the value of an expression at the last scrape.
func (p *prometheus) query(expr string) promql.Vector {
	p.t.Helper()
	q, err := p.engine.NewInstantQuery(p.t.Context(), p.storage, nil, expr, p.now.Add(-time.Minute))
	require.NoError(p.t, err)
	defer q.Close()
	result, err := q.Exec(p.t.Context()).Vector()
	require.NoError(p.t, err, expr)
	return result
}

// upness returns the values of the metric up for each service. The services run in one process, so
// Prometheus could not measure them.
func upness(ctx context.Context) map[string]float64 {
	up := map[string]float64{"gateway": answers(ctx, stack.URL[len("http://"):])}
	for service, addr := range stack.GRPC {
		up[service] = answers(ctx, addr)
	}
	return up
}

// rules returns the alerts, parsed by Prometheus's code.
func rules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile("alerts.yaml")
	require.NoError(t, err)
	var manifest struct {
		Spec yaml.Node `yaml:"spec"`
	}
	require.NoError(t, yaml.Unmarshal(text, &manifest))
	spec, err := yaml.Marshal(&manifest.Spec)
	require.NoError(t, err)
	groups, problems := rulefmt.Parse(spec, false, model.UTF8Validation, language, nil)
	require.Empty(t, problems)
	require.Len(t, groups.Groups, 1)
	return groups.Groups[0].Rules
}
