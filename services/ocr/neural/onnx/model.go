package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of fields in onnx.proto: of a model, a graph, an output, an operation, an attribute and a
// tensor.
const (
	modelGraph = 7

	graphNode, graphInitializer, graphOutput = 1, 5, 12

	valueName = 1

	nodeInput, nodeOutput, nodeOperator, nodeAttribute = 1, 2, 4, 5

	attributeName, attributeFloat, attributeInt, attributeTensor, attributeType = 1, 2, 3, 5, 20

	tensorDimension, tensorType, tensorName, tensorRaw = 1, 2, 8, 9
)

const attributeIsFloat, attributeIsInt, tensorOfFloats = 1, 2, 1

var errModel = errors.New("invalid ONNX model")

type graph struct {
	// model and fields are the encoded fields of the model and of its graph that do not change.
	model, fields []byte
	// nodes are in the order of execution.
	nodes []*node
	// constants are the encoded tensors by name, and results the names of the model's outputs.
	constants map[string][]byte
	results   []string
}

// node is an operation. encoded is nil if it was changed, and the operator is empty if it was
// removed.
type node struct {
	operator string
	inputs   []string
	outputs  []string
	// attributes are encoded.
	attributes [][]byte
	encoded    []byte
}

type tensor struct {
	dimensions []uint64
	values     []float32
}

// field is a field of an encoded message: the bits of a number or the bytes of other values, and
// the whole encoding.
type field struct {
	number  protowire.Number
	bits    uint64
	bytes   []byte
	encoded []byte
}

func fieldsOf(message []byte) ([]field, error) {
	var out []field
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil, fmt.Errorf("%w: %w", errModel, protowire.ParseError(tag))
		}
		length := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if length < 0 {
			return nil, fmt.Errorf("%w: %w", errModel, protowire.ParseError(length))
		}
		field := field{number: number, encoded: message[:tag+length]}
		switch kind {
		case protowire.VarintType:
			field.bits, _ = protowire.ConsumeVarint(message[tag:])
		case protowire.Fixed32Type:
			bits, _ := protowire.ConsumeFixed32(message[tag:])
			field.bits = uint64(bits)
		case protowire.BytesType:
			field.bytes, _ = protowire.ConsumeBytes(message[tag:])
		default:
		}
		out = append(out, field)
		message = message[tag+length:]
	}
	return out, nil
}

func parseGraph(model []byte) (*graph, error) {
	graph := &graph{constants: map[string][]byte{}}
	top, err := fieldsOf(model)
	if err != nil {
		return nil, err
	}
	var inner []field
	for _, f := range top {
		if f.number != modelGraph {
			graph.model = append(graph.model, f.encoded...)
		} else if inner, err = fieldsOf(f.bytes); err != nil {
			return nil, err
		}
	}
	for _, f := range inner {
		if err := graph.add(f); err != nil {
			return nil, err
		}
	}
	if len(graph.nodes) == 0 {
		return nil, fmt.Errorf("%w: no operations", errModel)
	}
	return graph, nil
}

func (g *graph) add(field field) error {
	if field.number != graphNode {
		g.fields = append(g.fields, field.encoded...)
	}
	if field.number != graphNode && field.number != graphInitializer &&
		field.number != graphOutput {
		return nil
	}
	fields, err := fieldsOf(field.bytes)
	if err != nil {
		return err
	}
	if field.number == graphNode {
		g.addNode(fields, field.bytes)
	}
	if field.number == graphInitializer {
		for _, name := range texts(fields, tensorName) {
			g.constants[name] = field.bytes
		}
	}
	if field.number == graphOutput {
		g.results = append(g.results, texts(fields, valueName)...)
	}
	return nil
}

func (g *graph) addNode(fields []field, encoded []byte) {
	node := &node{
		inputs: texts(fields, nodeInput), outputs: texts(fields, nodeOutput), encoded: encoded,
	}
	node.operator = strings.Join(texts(fields, nodeOperator), "")
	for _, f := range fields {
		if f.number == nodeAttribute {
			node.attributes = append(node.attributes, f.bytes)
		}
	}
	g.nodes = append(g.nodes, node)
	if node.operator == "Constant" && len(node.outputs) == 1 {
		for _, f := range node.attribute("value") {
			if f.number == attributeTensor {
				g.constants[node.outputs[0]] = f.bytes
			}
		}
	}
}

func texts(fields []field, number protowire.Number) []string {
	var out []string
	for _, f := range fields {
		if f.number == number {
			out = append(out, string(f.bytes))
		}
	}
	return out
}

func (n *node) attribute(name string) []field {
	for _, a := range n.attributes {
		fields, err := fieldsOf(a)
		if err == nil && slices.Equal(texts(fields, attributeName), []string{name}) {
			return fields
		}
	}
	return nil
}

// float returns an attribute that is a number, or NaN.
func (n *node) float(name string) float32 {
	for _, f := range n.attribute(name) {
		if f.number == attributeFloat {
			return math.Float32frombits(uint32(f.bits))
		}
	}
	return float32(math.NaN())
}

// tensor returns the constant with a name, or nil if there is none of floats in the usual encoding.
func (g *graph) tensor(name string) *tensor {
	fields, err := fieldsOf(g.constants[name])
	if err != nil {
		return nil
	}
	var tensor tensor
	size := uint64(1)
	for _, field := range fields {
		switch {
		case field.number == tensorDimension && field.bytes == nil:
			tensor.dimensions = append(tensor.dimensions, field.bits)
			size *= field.bits
		case field.number == tensorType && field.bits != tensorOfFloats:
			return nil
		case field.number == tensorRaw:
			for raw := field.bytes; len(raw) >= 4; raw = raw[4:] {
				tensor.values = append(tensor.values,
					math.Float32frombits(binary.LittleEndian.Uint32(raw)))
			}
		}
	}
	if len(tensor.values) == 0 || uint64(len(tensor.values)) != size {
		return nil
	}
	return &tensor
}

func (g *graph) constant(tensor tensor) string {
	name := fmt.Sprintf("fused_%d", len(g.constants))
	var raw []byte
	for _, v := range tensor.values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	var encoded []byte
	for _, d := range tensor.dimensions {
		encoded = appendNumber(encoded, tensorDimension, d)
	}
	encoded = appendNumber(encoded, tensorType, tensorOfFloats)
	encoded = appendBytes(encoded, tensorName, []byte(name))
	encoded = appendBytes(encoded, tensorRaw, raw)
	g.constants[name] = encoded
	g.fields = appendBytes(g.fields, graphInitializer, encoded)
	return name
}

func (n *node) change(operator string, inputs, outputs []string, attributes ...[]byte) {
	*n = node{operator: operator, inputs: inputs, outputs: outputs, attributes: attributes}
}

func (g *graph) encode() []byte {
	var operations []byte
	for _, node := range g.nodes {
		if node.operator == "" {
			continue
		}
		encoded := node.encoded
		if encoded == nil {
			for _, name := range node.inputs {
				encoded = appendBytes(encoded, nodeInput, []byte(name))
			}
			for _, name := range node.outputs {
				encoded = appendBytes(encoded, nodeOutput, []byte(name))
			}
			encoded = appendBytes(encoded, nodeOperator, []byte(node.operator))
			for _, a := range node.attributes {
				encoded = appendBytes(encoded, nodeAttribute, a)
			}
		}
		operations = appendBytes(operations, graphNode, encoded)
	}
	return appendBytes(slices.Clone(g.model), modelGraph, append(operations, g.fields...))
}

func appendBytes(out []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, number, protowire.BytesType), value)
}

func appendNumber(out []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(out, number, protowire.VarintType), value)
}

func floatAttribute(name string, value float32) []byte {
	out := appendBytes(nil, attributeName, []byte(name))
	out = protowire.AppendTag(out, attributeFloat, protowire.Fixed32Type)
	out = protowire.AppendFixed32(out, math.Float32bits(value))
	return appendNumber(out, attributeType, attributeIsFloat)
}

func intAttribute(name string, value uint64) []byte {
	out := appendBytes(nil, attributeName, []byte(name))
	out = appendNumber(out, attributeInt, value)
	return appendNumber(out, attributeType, attributeIsInt)
}
