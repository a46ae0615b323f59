package onnx

import (
	"math"
	"slices"
)

// Fuse returns a model that computes the same with fewer operations. In the networks of PaddleOCR,
// the operations that follow each convolution take as long as the convolution. Fuse replaces two
// patterns, in which the factors, terms and limits are single constants:
//
//	Conv, Mul, Add                                   by  Conv with other weights
//	Conv, Add 3, Clip 0 to 6, Mul, Div 6, Mul, Add   by  Conv, HardSigmoid, Mul, Conv that scales
//
// A value within a pattern must have no other use. Other operations remain as they are. The results
// differ by rounding only.
func Fuse(model []byte) ([]byte, error) {
	graph, err := parseGraph(model)
	if err != nil {
		return nil, err
	}
	for _, n := range graph.nodes {
		graph.foldScale(n)
	}
	for _, n := range graph.nodes {
		graph.fuseHardSwish(n)
	}
	return graph.encode(), nil
}

// foldScale includes the factor and the term that follow a convolution in its weights.
func (g *graph) foldScale(conv *node) {
	if conv.operator != "Conv" || len(conv.inputs) != 3 {
		return
	}
	weights, bias := g.tensor(conv.inputs[1]), g.tensor(conv.inputs[2])
	scaled, factor := g.next(conv, "Mul")
	shifted, term := g.next(scaled, "Add")
	if weights == nil || bias == nil || shifted == nil {
		return
	}
	for i := range weights.values {
		weights.values[i] *= factor
	}
	for i, v := range bias.values {
		bias.values[i] = v*factor + term
	}
	inputs := []string{conv.inputs[0], g.constant(*weights), g.constant(*bias)}
	conv.change("Conv", inputs, shifted.outputs, conv.attributes...)
	remove(scaled, shifted)
}

func (g *graph) fuseHardSwish(conv *node) {
	if conv.operator != "Conv" || len(conv.inputs) != 3 || len(conv.outputs) != 1 {
		return
	}
	weights, input := g.tensor(conv.inputs[1]), conv.outputs[0]
	users := g.users(input)
	if weights == nil || len(users) != 2 {
		return
	}
	add, product := users[0], users[1]
	if other, three := g.split(add); add.operator != "Add" || other != input || three != 3 {
		return
	}
	clip := g.user(add)
	if clip == nil || !g.clips(clip, 0, 6) || g.user(clip) != product || product.operator != "Mul" {
		return
	}
	quotient, six := g.next(product, "Div")
	scaled, factor := g.next(quotient, "Mul")
	shifted, term := g.next(scaled, "Add")
	if six != 6 || shifted == nil {
		return
	}
	channels := weights.dimensions[0]
	perChannel := func(v float32, dimensions ...uint64) string {
		return g.constant(tensor{dimensions, slices.Repeat([]float32{v}, int(channels))})
	}
	scale, shift := perChannel(factor, channels, 1, 1, 1), perChannel(term, channels)
	add.change("HardSigmoid", []string{input}, add.outputs,
		floatAttribute("alpha", 1./6), floatAttribute("beta", 0.5))
	product.change("Mul", []string{input, add.outputs[0]}, product.outputs)
	quotient.change("Conv", []string{product.outputs[0], scale, shift}, shifted.outputs,
		intAttribute("group", channels))
	remove(clip, scaled, shifted)
}

func remove(nodes ...*node) {
	for _, n := range nodes {
		n.change("", nil, nil)
	}
}

// users returns the operations that use a value, in their order. A result of the model has none.
func (g *graph) users(value string) []*node {
	if slices.Contains(g.results, value) {
		return nil
	}
	var out []*node
	for _, n := range g.nodes {
		if slices.Contains(n.inputs, value) {
			out = append(out, n)
		}
	}
	return out
}

// user returns the only operation that uses the output of n, or nil.
func (g *graph) user(n *node) *node {
	if len(n.outputs) != 1 {
		return nil
	}
	users := g.users(n.outputs[0])
	if len(users) != 1 || len(users[0].outputs) != 1 {
		return nil
	}
	return users[0]
}

// next returns the only operation that uses the output of node, and its constant, if it has the
// operator and a single constant as its other input. Otherwise, or if node is nil, it returns nil.
func (g *graph) next(node *node, operator string) (*node, float32) {
	if node == nil {
		return nil, 0
	}
	user := g.user(node)
	if user == nil || user.operator != operator {
		return nil, 0
	}
	x, constant := g.split(user)
	if x != node.outputs[0] || operator == "Div" && user.inputs[0] != x {
		return nil, 0
	}
	return user, constant
}

// split returns the input of an operation whose other input is a single constant, and that
// constant, or NaN.
func (g *graph) split(n *node) (string, float32) {
	if len(n.inputs) == 2 {
		for i, name := range n.inputs {
			if t := g.tensor(name); t != nil && len(t.values) == 1 {
				return n.inputs[1-i], t.values[0]
			}
		}
	}
	return "", float32(math.NaN())
}

// clips reports whether an operation limits its input to values from low to high. Older models have
// the limits as attributes.
func (g *graph) clips(node *node, low, high float32) bool {
	if node.operator != "Clip" {
		return false
	}
	if len(node.inputs) != 3 {
		return node.float("min") == low && node.float("max") == high
	}
	is := func(name string, v float32) bool {
		t := g.tensor(name)
		return t != nil && slices.Equal(t.values, []float32{v})
	}
	return is(node.inputs[1], low) && is(node.inputs[2], high)
}
