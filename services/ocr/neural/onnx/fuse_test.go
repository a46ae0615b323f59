package onnx

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testModel returns a model of operations, each written as "operator inputs -> output". Inputs that
// are names of constants are in the model.
func testModel(t *testing.T, constants map[string]tensor, operations ...string) []byte {
	t.Helper()
	graph := &graph{constants: map[string][]byte{}}
	names := map[string]string{}
	for name, value := range constants {
		names[name] = graph.constant(value)
	}
	for _, o := range operations {
		f := strings.Fields(o)
		node := &node{operator: f[0], inputs: f[1 : len(f)-2], outputs: f[len(f)-1:]}
		for i, name := range node.inputs {
			if constant, ok := names[name]; ok {
				node.inputs[i] = constant
			}
		}
		if node.operator == "Clip" && len(node.inputs) == 1 {
			node.attributes = [][]byte{floatAttribute("min", 0), floatAttribute("max", 6)}
		}
		graph.nodes = append(graph.nodes, node)
	}
	graph.fields = appendBytes(graph.fields, graphOutput, appendBytes(nil, 1, []byte("result")))
	return graph.encode()
}

// scalar is a constant of one number.
func scalar(v float32) tensor { return tensor{dimensions: []uint64{1}, values: []float32{v}} }

var testConstants = map[string]tensor{
	"w": {dimensions: []uint64{2, 1, 1, 1}, values: []float32{10, 20}},
	"b": {dimensions: []uint64{2}, values: []float32{1, 2}},
	"s": scalar(3), "t": scalar(0.5), "three": scalar(3), "six": scalar(6), "zero": scalar(0),
	"two": scalar(2),
}

// hardSwish is the second pattern on a value x, with the result y.
var hardSwish = []string{
	"Add x three -> x3", "Clip x3 -> c", "Mul x c -> xc", "Div xc six -> h", "Mul s h -> hs",
	"Add hs t -> y",
}

func TestFuse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ operations, want []string }{
		"folds a scale into a convolution": {
			[]string{"Conv in w b -> x", "Mul s x -> xs", "Add xs t -> result"},
			[]string{"Conv"},
		},
		"keeps a scale whose input is used elsewhere": {
			[]string{"Conv in w b -> x", "Mul s x -> xs", "Add xs t -> y", "Add x y -> result"},
			[]string{"Conv", "Mul", "Add", "Add"},
		},
		"keeps a scale of a result": {
			[]string{"Conv in w b -> result", "Mul s result -> xs", "Add xs t -> y"},
			[]string{"Conv", "Mul", "Add"},
		},
		"fuses hard swish": {
			slices.Concat([]string{"Conv in w b -> x"}, hardSwish, []string{"Relu y -> result"}),
			[]string{"Conv", "HardSigmoid", "Mul", "Conv", "Relu"},
		},
		"fuses hard swish with limits as inputs": {
			slices.Replace(slices.Concat([]string{"Conv in w b -> x"}, hardSwish),
				2, 3, "Clip x3 zero six -> c"),
			[]string{"Conv", "HardSigmoid", "Mul", "Conv"},
		},
		"keeps hard swish with another limit": {
			slices.Replace(slices.Concat([]string{"Conv in w b -> x"}, hardSwish),
				2, 3, "Clip x3 two six -> c"),
			[]string{"Conv", "Add", "Clip", "Mul", "Div", "Mul", "Add"},
		},
		"keeps hard swish whose parts are used elsewhere": {
			slices.Concat([]string{"Conv in w b -> x"}, hardSwish, []string{"Add h y -> result"}),
			[]string{"Conv", "Add", "Clip", "Mul", "Div", "Mul", "Add", "Add"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fused, err := Fuse(testModel(t, testConstants, tc.operations...))
			require.NoError(t, err)
			require.Equal(t, tc.want, operators(t, fused))
		})
	}
}

func TestFuseWeights(t *testing.T) {
	t.Parallel()
	fused, err := Fuse(testModel(t, testConstants, "Conv in w b -> x",
		"Mul s x -> xs", "Add xs t -> result"))
	require.NoError(t, err)
	require.Equal(t, []float32{30, 60}, initializer(t, fused, 0).values)
	require.Equal(t, []float32{3.5, 6.5}, initializer(t, fused, 1).values)
}

func TestFuseRejectsOtherFiles(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "oops", "\x3a\x05\x0a\x7f", string(testModel(t, nil))} {
		_, err := Fuse([]byte(file))
		require.ErrorIs(t, err, errModel, "%q", file)
	}
}

// operators returns the operators of a model in their order.
func operators(t *testing.T, model []byte) []string {
	t.Helper()
	g, err := parseGraph(model)
	require.NoError(t, err)
	var out []string
	for _, n := range g.nodes {
		out = append(out, n.operator)
	}
	return out
}

// initializer returns an input of the first operation, without its data.
func initializer(t *testing.T, model []byte, i int) *tensor {
	t.Helper()
	g, err := parseGraph(model)
	require.NoError(t, err)
	found := g.tensor(g.nodes[0].inputs[1+i])
	require.NotNil(t, found)
	return found
}

// TestFusedNetworks requires that the networks have fewer operations, and the same output except
// for rounding.
func TestFusedNetworks(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("OCR_NEURAL")
	if _, err := os.Stat(filepath.Join(dir, "contents")); err != nil {
		t.Skip("the neural engine is not installed")
	}
	runtime, err := Open(filepath.Join(dir, "libonnxruntime.so.1"))
	require.NoError(t, err)
	for file, shape := range map[string][]int64{
		"detector.onnx": {1, 3, 96, 64}, "recognizer.onnx": {2, 3, 48, 160},
	} {
		model, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		fused, err := Fuse(model)
		require.NoError(t, err)
		require.NotContains(t, operators(t, fused), "Clip", "hard swish remains")
		require.Less(t, len(operators(t, fused)), len(operators(t, model))-100)
		random := rand.New(rand.NewPCG(1, 2))
		input := make([]float32, shape[0]*shape[1]*shape[2]*shape[3])
		for i := range input {
			input[i] = 2*random.Float32() - 1
		}
		require.InDeltaSlice(t, output(t, runtime, model, input, shape),
			output(t, runtime, fused, input, shape), 1e-4, file)
	}
}

func output(t *testing.T, r *Runtime, model []byte, input []float32, shape []int64) []float32 {
	t.Helper()
	n, err := r.load(model)
	require.NoError(t, err)
	var out []float32
	require.NoError(t, n.Run(input, shape, func(values []float32, _ []int64) error {
		out = slices.Clone(values)
		return nil
	}))
	return out
}
