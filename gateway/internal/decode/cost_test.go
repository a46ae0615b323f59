package decode

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	// scanFactor limits the CPU time of decoding, as a multiple of the time of json.Valid for a
	// body of the same size.
	scanFactor = 40
	// bytesPerByte and allocationsPerKilobyte limit the memory that decoding allocates, in
	// proportion to the body.
	bytesPerByte           = 24
	allocationsPerKilobyte = 160
	// fixedBytes is for the response and the fixed parts of the decoder.
	fixedBytes = 256 << 10
)

// fill repeats unit between head and tail, up to size.
func fill(size int, head, unit, tail string) string {
	return head + strings.Repeat(unit, (size-len(head)-len(tail))/len(unit)) + tail
}

// hostileBodies returns JSON bodies of a size, by the resource that they try to exhaust. name is a
// member that the operation knows.
func hostileBodies(name string, size int) map[string]string {
	fill := func(head, unit, tail string) string { return fill(size, head, unit, tail) }
	numbered := func(head, format, tail string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < size-64; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String() + tail
	}
	known := `{"` + name + `":`
	return map[string]string{
		"a long name above repeated members": fill(`{"`+strings.Repeat("k", size/2)+`":{"a":1`,
			`,"a":1`, `}}`),
		"a long known prefix": fill(known+`{"`+strings.Repeat("k", 250)+`":{"a":1`,
			`,"a":1`, `}}}`),
		"an escaped long name": fill(`{"`, `\u0061`, `":1}`),
		"nested objects":       fill("", `{"a":`, "1}"),
		"nested arrays":        strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"nested below the limit, many times": fill(`{"a":[0`,
			","+strings.Repeat("[", 60)+strings.Repeat("]", 60), `]}`),
		"many unknown members":                 numbered(`{"a":1`, `,"m%d":1`, `}`),
		"many members of one name":             fill(known+`1`, `,"`+name+`":1`, `}`),
		"many members of a known object":       numbered(known+`{"a":1`, `,"m%d":1`, `}}`),
		"many empty objects":                   fill(known+`[{}`, `,{}`, `]}`),
		"many empty arrays":                    fill(known+`[[]`, `,[]`, `]}`),
		"many objects with a repeated member":  fill(known+`[{}`, `,{"a":1,"a":2}`, `]}`),
		"many unknown empty objects":           fill(`{"a":[{}`, `,{}`, `]}`),
		"many strings in an array":             fill(known+`["a"`, `,"a"`, `]}`),
		"many numbers in an array":             fill(known+`[1`, `,1`, `]}`),
		"a huge number":                        fill(known, `9`, `}`),
		"a huge fraction":                      fill(known+`0.`, `1`, `}`),
		"a huge exponent":                      fill(known+`1e`, `9`, `}`),
		"a long string":                        fill(known+`"`, `x`, `"}`),
		"a long string of escapes":             fill(known+`"`, `\u0061`, `"}`),
		"a long string of surrogate pairs":     fill(known+`"`, `\ud83d\ude00`, `"}`),
		"a long string of half pairs":          fill(known+`"`, `\ud83d`, `"}`),
		"a long string of escaped backslashes": fill(known+`"`, `\\`, `"}`),
		"white space":                          fill(known, ` `, `1}`),
	}
}

// cost is the work of one call, which does not depend on the load of the machine.
type cost struct {
	cpu           time.Duration
	bytes, allocs uint64
}

// measure returns the CPU time of run and the memory that it allocates. No other test runs at the
// same time.
func measure(t *testing.T, run func()) cost {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime(t)
	run()
	c := cost{cpu: cpuTime(t) - start}
	runtime.ReadMemStats(&after)
	c.bytes, c.allocs = after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
	return c
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// requireCheap fails if run costs more than the limits for a request of that size allow. scan is
// the cost of scanning a plain body.
func requireCheap(t *testing.T, scan cost, size int, run func()) {
	t.Helper()
	c := measure(t, run)
	for try := 0; c.cpu > scanFactor*scan.cpu && try < 2; try++ {
		// The garbage collector may have collected the garbage of another test.
		c.cpu = measure(t, run).cpu
	}
	require.Less(t, c.cpu, scanFactor*scan.cpu, "CPU time")
	require.Less(t, c.bytes, uint64(bytesPerByte*size+fixedBytes), "bytes allocated")
	require.Less(t, c.allocs, uint64(allocationsPerKilobyte*size/1024+2000), "allocations")
}

// plainScan measures json.Valid on an ordinary body of the maximum size.
func plainScan(t *testing.T) cost {
	t.Helper()
	body := []byte(`{"transactions":[{}` + strings.Repeat(`,{"amount":12.30,"description":"Lunch"}`,
		jsonLimit/40) + `]}`)
	return measure(t, func() { require.True(t, json.Valid(body)) })
}

//nolint:paralleltest // It measures the process's memory and CPU time.
func TestDecodeCostIsLinearInBody(t *testing.T) {
	scan := plainScan(t)
	bodies, covered := map[string]map[string]string{}, map[string]bool{}
	for _, operation := range operations(t) {
		if !operation.hasBody || operation.isForm() {
			continue
		}
		for _, name := range uncovered(operation.body, covered) {
			if bodies[name] == nil {
				bodies[name] = hostileBodies(name, jsonLimit)
			}
			for kind, body := range bodies[name] {
				t.Run(operation.name+"/"+name+"/"+kind, func(t *testing.T) {
					require.LessOrEqual(t, len(body), jsonLimit)
					require.Greater(t, len(body), jsonLimit*9/10)
					var err error
					requireCheap(t, scan, len(body),
						func() { _, err = operation.decode(t.Context(), []byte(body), "") })
					requireSmall(t, err)
				})
			}
		}
	}
	require.Greater(t, len(covered), 5)
}

// uncovered returns the names of fields whose kind no earlier operation had. If there are none, it
// returns the first field's name, or an unknown name if there are no fields.
func uncovered(all fields, covered map[string]bool) []string {
	var names []string
	sorted := slices.Sorted(maps.Keys(all))
	for _, name := range sorted {
		f := all[name]
		kind := fmt.Sprint(f.Kind(), f.IsList(), f.values != nil, f.decimal, f.nullEmpties)
		if !covered[kind] {
			covered[kind] = true
			names = append(names, name)
		}
	}
	switch {
	case len(names) > 0:
		return names
	case len(sorted) > 0:
		return sorted[:1]
	}
	return []string{"unknown"}
}

// requireSmall fails when the error response for err would be large.
func requireSmall(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e := apierr.From(err)
	require.NotNil(t, e, "%v", err)
	require.LessOrEqual(t, len(e.Fields), maxProblems)
	for _, f := range e.Fields {
		require.LessOrEqual(t, len(f.Name), maxFieldLength+len("..."))
		require.Less(t, len(f.Message), 400)
	}
}

//nolint:paralleltest // It measures the process's memory and CPU time.
func TestDecodeCostIsLinearInQueryAndHeaders(t *testing.T) {
	scan := plainScan(t)
	const size = 64 << 10
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	for _, operation := range operations(t) {
		queries := map[string]string{
			"unknown": fill("a=1&"), "empty": fill("a&"), "separators": fill("&"),
			"escapes": "a=" + fill("%61"), "long name": fill("a") + "=1",
		}
		var distinct strings.Builder
		for i := 0; distinct.Len() < size; i++ {
			fmt.Fprintf(&distinct, "p%d=1&", i)
		}
		queries["distinct"] = distinct.String()
		for name := range operation.query {
			queries["repeated "+name] = fill(name + "=1&")
			queries["long "+name] = name + "=" + fill("9")
		}
		for kind, query := range queries {
			t.Run(operation.name+"/"+kind, func(t *testing.T) {
				var err error
				requireCheap(t, scan, len(query),
					func() { _, err = operation.decode(t.Context(), nil, query) })
				requireSmall(t, err)
			})
		}
		for _, h := range operation.headers {
			requireCheap(t, scan, size,
				func() { _, _ = operation.decode(t.Context(), nil, "", h.Name, fill("\xff, ")) })
		}
	}
}
