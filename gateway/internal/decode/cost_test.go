package decode

import (
	"bytes"
	"compress/gzip"
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
	"google.golang.org/protobuf/reflect/protoreflect"

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
		"a long name above repeated members":   fill(`{"`+strings.Repeat("k", size/2)+`":{"a":1`, `,"a":1`, `}}`),
		"a long known prefix":                  fill(known+`{"`+strings.Repeat("k", 250)+`":{"a":1`, `,"a":1`, `}}}`),
		"an escaped long name":                 fill(`{"`, `\u0061`, `":1}`),
		"nested objects":                       fill("", `{"a":`, "1}"),
		"nested arrays":                        strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"nested below the limit, many times":   fill(`{"a":[0`, ","+strings.Repeat("[", 60)+strings.Repeat("]", 60), `]}`),
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

// measure returns the CPU time of f and the memory that it allocates. No other test runs at the
// same time.
func measure(t *testing.T, f func()) cost {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime(t)
	f()
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

// requireCheap fails if f costs more than the limits for a request of that size allow. scan is the
// cost of scanning a plain body.
func requireCheap(t *testing.T, scan cost, size int, f func()) {
	t.Helper()
	c := measure(t, f)
	for try := 0; c.cpu > scanFactor*scan.cpu && try < 2; try++ {
		// The garbage collector may have collected the garbage of another test.
		c.cpu = measure(t, f).cpu
	}
	require.Less(t, c.cpu, scanFactor*scan.cpu, "CPU time")
	require.Less(t, c.bytes, uint64(bytesPerByte*size+fixedBytes), "bytes allocated")
	require.Less(t, c.allocs, uint64(allocationsPerKilobyte*size/1024+2000), "allocations")
}

// plainScan measures json.Valid on an ordinary body of the maximum size.
func plainScan(t *testing.T) cost {
	t.Helper()
	body := []byte(`{"transactions":[{}` + strings.Repeat(`,{"amount":12.30,"description":"Lunch"}`, jsonLimit/40) + `]}`)
	return measure(t, func() { require.True(t, json.Valid(body)) })
}

//nolint:paralleltest // It measures the process's memory and CPU time.
func TestDecodeCostIsLinearInBody(t *testing.T) {
	scan := plainScan(t)
	bodies, covered := map[string]map[string]string{}, map[string]bool{}
	for _, o := range operations(t) {
		if !o.hasBody || o.isForm() {
			continue
		}
		for _, name := range uncovered(o.body, covered) {
			if bodies[name] == nil {
				bodies[name] = hostileBodies(name, jsonLimit)
			}
			for kind, body := range bodies[name] {
				t.Run(o.name+"/"+name+"/"+kind, func(t *testing.T) {
					require.LessOrEqual(t, len(body), jsonLimit)
					require.Greater(t, len(body), jsonLimit*9/10)
					var err error
					requireCheap(t, scan, len(body), func() { _, err = o.decode(t.Context(), []byte(body), "") })
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
	for _, o := range operations(t) {
		queries := map[string]string{
			"unknown": fill("a=1&"), "empty": fill("a&"), "separators": fill("&"), "escapes": "a=" + fill("%61"), "long name": fill("a") + "=1",
		}
		var distinct strings.Builder
		for i := 0; distinct.Len() < size; i++ {
			fmt.Fprintf(&distinct, "p%d=1&", i)
		}
		queries["distinct"] = distinct.String()
		for name := range o.query {
			queries["repeated "+name] = fill(name + "=1&")
			queries["long "+name] = name + "=" + fill("9")
		}
		for kind, query := range queries {
			t.Run(o.name+"/"+kind, func(t *testing.T) {
				var err error
				requireCheap(t, scan, len(query), func() { _, err = o.decode(t.Context(), nil, query) })
				requireSmall(t, err)
			})
		}
		for _, h := range o.headers {
			requireCheap(t, scan, size, func() { _, _ = o.decode(t.Context(), nil, "", h.Name, fill("\xff, ")) })
		}
	}
}

// hostileForm is a form and its boundary.
type hostileForm struct{ boundary, body string }

// hostileForms returns forms of the maximum size of a receipt, by the resource that they try to
// exhaust. text and file are the names of a text and of the file of the operation.
func hostileForms(text, file string) map[string]hostileForm {
	fill := func(head, unit, tail string) string { return fill(fileLimit, head, unit, tail) }
	long := strings.Repeat("b", 60<<10)
	part := "--b\r\nContent-Disposition: form-data; name=\"" + file + "\"; filename=\"r\"\r\n\r\n"
	field := "--b\r\nContent-Disposition: form-data; name=\"" + text + "\"\r\n\r\n"
	return map[string]hostileForm{
		"empty parts":             {"b", fill("", "--b\r\n\r\n\r\n", "--b--\r\n")},
		"text parts":              {"b", fill("", field+"x\r\n", "--b--\r\n")},
		"unknown parts":           {"b", fill("", "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nx\r\n", "--b--\r\n")},
		"a long unknown part":     {"b", fill("--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n", "x", "\r\n--b--\r\n")},
		"a header of many lines":  {"b", fill("--b\r\n", "A: b\r\n", "\r\n\r\n--b--\r\n")},
		"a long header":           {"b", fill("--b\r\nA: ", "b", "\r\n\r\n\r\n--b--\r\n")},
		"a long file":             {"b", fill(part, "x", "\r\n--b--\r\n")},
		"almost boundaries":       {"bb", fill(strings.ReplaceAll(part, "--b", "--bb"), "\r\n--b", "\r\n--bb--\r\n")},
		"a long boundary":         {long, fill("--"+long+"\r\n\r\n", "\r\n--"+long[:len(long)-1], "\r\n--"+long+"--\r\n")},
		"no boundary":             {"b", fill("", "x", "")},
		"line ends":               {"b", fill(part, "\r\n", "\r\n--b--\r\n")},
		"a long preamble":         {"b", fill("", "x\r\n", "--b--\r\n")},
		"a boundary and no end":   {"b", fill("--b\r\n", "\r\n", "")},
		"a long text":             {"b", fill(field, "x", "\r\n--b--\r\n")},
		"a long name":             {"b", fill("--b\r\nContent-Disposition: form-data; name=\"", "x", "\"\r\n\r\n\r\n--b--\r\n")},
		"a long file name":        {"b", fill("--b\r\nContent-Disposition: form-data; name=\""+file+"\"; filename=\"", "x", "\"\r\n\r\nx\r\n--b--\r\n")},
		"a header of many params": {"b", fill("--b\r\nContent-Disposition: form-data; name=\"x\"", "; a*0=b", "\r\n\r\n\r\n--b--\r\n")},
	}
}

// formFields returns the names of a text and of the file of an operation, and the names of its JSON
// objects.
func (o operation) formFields() (text, file string, objects []string) {
	if o.file != nil {
		file = o.file.JSONName()
	}
	for _, name := range o.body.names() {
		switch o.body[name].Kind() {
		case protoreflect.BytesKind:
			file = name
		case protoreflect.MessageKind:
			objects = append(objects, name)
		default:
			text = name
		}
	}
	return text, file, objects
}

//nolint:paralleltest // It measures the process's memory and CPU time.
func TestDecodeMultipartCostIsLinear(t *testing.T) {
	scan := plainScan(t)
	var covered []string
	for _, o := range operations(t) {
		if !o.isForm() {
			continue
		}
		covered = append(covered, o.name)
		text, file, objects := o.formFields()
		forms := hostileForms(text, file)
		for _, object := range objects {
			for _, name := range o.body[object].fields.names() {
				for kind, json := range hostileBodies(name, maxFormJSON) {
					head := "--b\r\nContent-Disposition: form-data; name=\"" + object + "\"\r\n\r\n"
					forms[object+"/"+name+"/"+kind] = hostileForm{"b", head + json + "\r\n--b--\r\n"}
				}
			}
		}
		for kind, form := range forms {
			t.Run(o.name+"/"+kind, func(t *testing.T) {
				var err error
				// A form is up to ten times as long as the body of the scan.
				requireCheap(t, cost{cpu: max(scan.cpu, scan.cpu*time.Duration(len(form.body))/jsonLimit)}, len(form.body), func() {
					_, err = o.decode(t.Context(), []byte(form.body), "", "Content-Type", "multipart/form-data; boundary="+form.boundary)
				})
				requireSmall(t, err)
			})
		}
	}
	require.Equal(t, []string{"CreateAttachment", "CreateImport", "CreateTransactionsFromReceipt"}, covered)
}

// TestDecodeUploadCostOfCompressedForm sends forms that decompression makes a thousand times as
// long.
//
//nolint:paralleltest // It measures the process's memory and CPU time.
func TestDecodeUploadCostOfCompressedForm(t *testing.T) {
	scan := plainScan(t)
	for _, o := range operations(t) {
		if o.file == nil {
			continue
		}
		for name, head := range map[string]string{
			"file":    "--b\r\nContent-Disposition: form-data; name=\"" + o.file.JSONName() + "\"; filename=\"r\"\r\n\r\n",
			"unknown": "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n",
		} {
			t.Run(o.name+"/"+name, func(t *testing.T) {
				var body bytes.Buffer
				w := gzip.NewWriter(&body)
				_, err := w.Write([]byte(fill(uploadLimit*2, head, "x", "\r\n--b--\r\n")))
				require.NoError(t, err)
				require.NoError(t, w.Close())
				requireCheap(t, cost{cpu: scan.cpu * uploadLimit / jsonLimit}, uploadLimit, func() {
					_, err = o.decode(t.Context(), body.Bytes(), "", "Content-Type", "multipart/form-data; boundary=b", "Content-Encoding", "gzip")
				})
				require.ErrorIs(t, err, apierr.PayloadTooLarge)
			})
		}
	}
}
