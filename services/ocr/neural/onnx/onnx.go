// Package onnx runs neural networks with ONNX Runtime. It loads the shared library at run time and
// calls its C interface without cgo, so that the program is compiled without a C compiler, also for
// another architecture.
//
// Open loads the library, Runtime.Load a network, and Network.Run applies it. Load first replaces
// operations by fewer ones with the same result (fuse.go; model.go reads and writes the file's
// format). They are safe for concurrent use. An invalid network or input is an error of ONNX
// Runtime. A defect in the library can crash the process, so this package belongs only into a
// process that may crash.
package onnx

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// apiVersion is the version of the C interface. Later releases of the library also offer it.
const apiVersion = 22

// Positions of functions in the table OrtApi of onnxruntime_c_api.h. New functions are only
// appended to it.
const (
	getErrorMessage          = 2
	createEnv                = 3
	createSessionFromArray   = 8
	run                      = 9
	createSessionOptions     = 10
	disableMemPattern        = 17
	setGraphOptimization     = 23
	setIntraOpThreads        = 24
	sessionGetInputName      = 36
	sessionGetOutputName     = 37
	createTensorWithData     = 49
	getTensorMutableData     = 51
	getDimensionsCount       = 61
	getDimensions            = 62
	getTensorTypeAndShape    = 65
	createCPUMemoryInfo      = 69
	getDefaultAllocator      = 78
	releaseStatus            = 93
	releaseValue             = 96
	releaseTensorTypeAndInfo = 99
	releaseSessionOptions    = 100
	tableLength              = releaseSessionOptions + 1
)

// Constants of onnxruntime_c_api.h.
const (
	logError           = 3
	allOptimizations   = 99
	elementFloat       = 1
	arenaAllocator     = 1
	defaultMemory      = 0
	apiBaseVersionSlot = 0
)

// Runtime is a loaded library. It is never unloaded, because the process uses it until its end. The
// fields are addresses of objects of the library.
type Runtime struct {
	table       *[tableLength]uintptr
	environment uintptr
	// memory describes the process's memory, in which tensors are created.
	memory    uintptr
	allocator uintptr
}

// Open loads the library from a file.
func Open(library string) (*Runtime, error) {
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("loading ONNX Runtime: %w", err)
	}
	symbol, err := purego.Dlsym(handle, "OrtGetApiBase")
	if err != nil {
		return nil, fmt.Errorf("loading ONNX Runtime: %w", err)
	}
	base, _, _ := purego.SyscallN(symbol)
	if base == 0 {
		return nil, errors.New("ONNX Runtime has no interface")
	}
	getAPI := (*[1]uintptr)(pointer(base))[apiBaseVersionSlot]
	table, _, _ := purego.SyscallN(getAPI, apiVersion)
	if table == 0 {
		return nil, fmt.Errorf("this ONNX Runtime lacks version %d of its interface", apiVersion)
	}
	r := &Runtime{table: (*[tableLength]uintptr)(pointer(table))}
	name := cString("ocr")
	err = errors.Join(
		r.call(createEnv, logError,
			uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&r.environment))),
		r.call(createCPUMemoryInfo,
			arenaAllocator, defaultMemory, uintptr(unsafe.Pointer(&r.memory))),
		r.call(getDefaultAllocator, uintptr(unsafe.Pointer(&r.allocator))),
	)
	return r, err
}

// call calls a function of the table, and converts its status to an error. The status 0 is success.
//
//go:uintptrescapes
func (r *Runtime) call(function int, args ...uintptr) error {
	status, _, _ := purego.SyscallN(r.table[function], args...)
	if status == 0 {
		return nil
	}
	message, _, _ := purego.SyscallN(r.table[getErrorMessage], status)
	err := fmt.Errorf("ONNX Runtime: %s", goString(message))
	purego.SyscallN(r.table[releaseStatus], status)
	return err
}

// Network is a loaded neural network with one input and one output, both tensors of 32-bit floats.
// session, input and output are addresses: of the session, and of the names of its two tensors.
type Network struct {
	runtime       *Runtime
	session       uintptr
	input, output uintptr
}

// Load loads a network from a file. A run uses one thread: threads that share the work of a run
// wait for each other hundreds of times, which takes long on a busy machine. Independent runs in
// parallel do not.
func (r *Runtime) Load(file string) (*Network, error) {
	model, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if model, err = Fuse(model); err != nil {
		return nil, fmt.Errorf("loading %s: %w", file, err)
	}
	n, err := r.load(model)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", file, err)
	}
	return n, nil
}

func (r *Runtime) load(model []byte) (*Network, error) {
	var options uintptr
	if err := r.call(createSessionOptions, uintptr(unsafe.Pointer(&options))); err != nil {
		return nil, err
	}
	defer purego.SyscallN(r.table[releaseSessionOptions], options)
	network := &Network{runtime: r}
	err := errors.Join(
		r.call(setIntraOpThreads, options, 1),
		r.call(setGraphOptimization, options, allOptimizations),
		// Every input has another size, so the memory pattern of the previous run is of no use.
		r.call(disableMemPattern, options),
		r.call(createSessionFromArray, r.environment, uintptr(unsafe.Pointer(&model[0])),
			uintptr(len(model)), options, uintptr(unsafe.Pointer(&network.session))),
	)
	if err != nil {
		return nil, err
	}
	return network, errors.Join(
		r.call(sessionGetInputName, network.session, 0, r.allocator,
			uintptr(unsafe.Pointer(&network.input))),
		r.call(sessionGetOutputName, network.session, 0, r.allocator,
			uintptr(unsafe.Pointer(&network.output))),
	)
}

// Run applies the network to a tensor of the given shape, and calls use with the output and its
// shape. The output is valid only during the call of use.
func (n *Network) Run(
	input []float32, shape []int64, use func(output []float32, shape []int64) error,
) error {
	size := int64(1)
	for _, d := range shape {
		size *= d
	}
	if size != int64(len(input)) || size <= 0 {
		return fmt.Errorf("the shape %v does not fit an input of %d values", shape, len(input))
	}
	library := n.runtime
	// ONNX Runtime keeps the addresses of the data until the value is released.
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(&input[0])
	pinned.Pin(&shape[0])
	var in, out uintptr
	const float = 4
	err := library.call(createTensorWithData, library.memory,
		uintptr(unsafe.Pointer(&input[0])), uintptr(len(input)*float),
		uintptr(unsafe.Pointer(&shape[0])), uintptr(len(shape)),
		elementFloat, uintptr(unsafe.Pointer(&in)))
	if err != nil {
		return err
	}
	defer purego.SyscallN(library.table[releaseValue], in)
	err = library.call(run, n.session, 0,
		uintptr(unsafe.Pointer(&n.input)), uintptr(unsafe.Pointer(&in)), 1,
		uintptr(unsafe.Pointer(&n.output)), 1, uintptr(unsafe.Pointer(&out)))
	if err != nil {
		return err
	}
	defer purego.SyscallN(library.table[releaseValue], out)
	dimensions, err := library.shape(out)
	if err != nil {
		return err
	}
	size = 1
	for _, d := range dimensions {
		size *= d
	}
	var data uintptr
	if err := library.call(getTensorMutableData, out, uintptr(unsafe.Pointer(&data))); err != nil {
		return err
	}
	if size <= 0 || data == 0 {
		return errors.New("ONNX Runtime returned an empty output")
	}
	return use(unsafe.Slice((*float32)(pointer(data)), size), dimensions)
}

func (r *Runtime) shape(value uintptr) ([]int64, error) {
	var info, count uintptr
	if err := r.call(getTensorTypeAndShape, value, uintptr(unsafe.Pointer(&info))); err != nil {
		return nil, err
	}
	defer purego.SyscallN(r.table[releaseTensorTypeAndInfo], info)
	if err := r.call(getDimensionsCount, info, uintptr(unsafe.Pointer(&count))); err != nil {
		return nil, err
	}
	if count == 0 {
		return nil, nil
	}
	out := make([]int64, count)
	return out, r.call(getDimensions, info, uintptr(unsafe.Pointer(&out[0])), count)
}

// pointer converts an address in memory of the library, which Go's garbage collector does not
// manage.
func pointer(address uintptr) unsafe.Pointer {
	// go vet rejects unsafe.Pointer(address), because an address in Go's memory could become
	// invalid.
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

func cString(s string) *byte {
	b := append([]byte(s), 0)
	return &b[0]
}

func goString(address uintptr) string {
	if address == 0 {
		return "unknown error"
	}
	n := 0
	for *(*byte)(unsafe.Add(pointer(address), n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(pointer(address)), n))
}
