// Command ocr-neural reads the text on pages with neural networks. The ocr service starts it as a
// separate process:
//
//	ocr-neural DIR
//
// DIR contains ONNX Runtime and the models. The command reads requests from its standard input and
// writes responses to its standard output until the input ends. A malformed image may crash it, so
// it may only use files that are open already (sandbox.Confine).
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/coffer-budget/coffer/services/ocr/neural"
	"github.com/coffer-budget/coffer/services/ocr/neural/onnx"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ocr-neural:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: ocr-neural DIR")
	}
	engine, err := load(os.Args[1])
	if err != nil {
		return err
	}
	if err := sandbox.Confine(sandbox.Rights{}); err != nil {
		return fmt.Errorf("giving up rights: %w", err)
	}
	// Pages and tensors are large and short-lived, so an early collection saves memory.
	debug.SetGCPercent(25)
	return engine.Serve(bufio.NewReaderSize(os.Stdin, 1<<16), os.Stdout)
}

func load(dir string) (*neural.Engine, error) {
	ort, err := onnx.Open(filepath.Join(dir, "libonnxruntime.so.1"))
	if err != nil {
		return nil, err
	}
	detector, err := ort.Load(filepath.Join(dir, "detector.onnx"))
	if err != nil {
		return nil, err
	}
	recognizer, err := ort.Load(filepath.Join(dir, "recognizer.onnx"))
	if err != nil {
		return nil, err
	}
	alphabet, err := os.ReadFile(filepath.Join(dir, "alphabet.txt"))
	if err != nil {
		return nil, err
	}
	engine, err := neural.New(detector.Run, recognizer.Run, string(alphabet))
	// Each worker has its own tensors in memory.
	engine.Workers = min(runtime.NumCPU(), 2)
	return engine, err
}
