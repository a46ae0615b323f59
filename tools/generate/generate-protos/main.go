// Command generate-protos compiles the files under proto/coffer and runs the protoc plugins on
// them. `make generate` runs it.
//
//	generate-protos BIN [PLUGIN]
//
// must run in the repository's folder. BIN is the folder with the plugins, and .cache/proto has the
// imported googleapis files, which `make protos` copies from a Go module. With a plugin's name,
// only that plugin runs. The command replaces `buf generate`, because buf takes minutes to compile
// and `make generate` needs nothing else of it.
//
// `make generate` runs the command twice. The first run executes only protoc-gen-go. The plugins of
// Coffer are linked with the Go code that it generates for the options in coffer/rest/v1, so they
// are built between the runs. The second run executes all plugins.
//
// A plugin is a separate program, as with protoc. It reads a CodeGeneratorRequest from its standard
// input and writes a CodeGeneratorResponse with the content of the files to its standard output.
// Start reading with run.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// plugins lists the plugins in the order of their execution. folder is the folder of the repository
// to which the paths in a response are relative. The parameter of the Go plugins derives these
// paths from the path of the proto file, not from go_package.
var plugins = []struct{ name, folder, parameter string }{
	{"protoc-gen-go", "proto/gen", "paths=source_relative"},
	{"protoc-gen-go-grpc", "proto/gen", "paths=source_relative"},
	{"protoc-gen-coffer-openapi", "gateway", ""},
	{"protoc-gen-coffer-errors", "docs", ""},
}

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate-protos:", err)
		os.Exit(1)
	}
}

// run compiles all files once and passes them to each plugin. If only is not empty, it names the
// plugins to run. The files of plugins that ran before a failure are already written.
func run(ctx context.Context, bin string, only []string) error {
	names, err := fs.Glob(os.DirFS("proto"), "coffer/*/v1/*.proto")
	if err != nil {
		return err
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			ImportPaths: []string{"proto", ".cache/proto"},
		}),
		// The plugins copy the comments of the protos into their files.
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return err
	}
	var all []*descriptorpb.FileDescriptorProto
	for _, file := range files {
		all = withImports(all, file)
	}
	for _, p := range plugins {
		if len(only) > 0 && !slices.Contains(only, p.name) {
			continue
		}
		request := &pluginpb.CodeGeneratorRequest{
			FileToGenerate: names, Parameter: &p.parameter, ProtoFile: all,
		}
		if err := generate(ctx, filepath.Join(bin, p.name), p.folder, request); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// withImports appends a file to the list, after its imports. Plugins need this order. The list also
// contains imports that are not compiled for Coffer, such as google/api/http.proto. FileToGenerate
// excludes them from the generated code.
func withImports(
	list []*descriptorpb.FileDescriptorProto, file protoreflect.FileDescriptor,
) []*descriptorpb.FileDescriptorProto {
	if slices.ContainsFunc(list,
		func(f *descriptorpb.FileDescriptorProto) bool { return f.GetName() == file.Path() }) {
		return list
	}
	for i := range file.Imports().Len() {
		list = withImports(list, file.Imports().Get(i).FileDescriptor)
	}
	return append(list, protodesc.ToFileDescriptorProto(file))
}

// generate runs a plugin and writes its files below a folder. It does not delete files that the
// plugin no longer generates.
func generate(
	ctx context.Context, program, folder string, request *pluginpb.CodeGeneratorRequest,
) error {
	in, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &response); err != nil {
		return err
	}
	// A plugin that rejects the protos exits with 0 and describes the problem in its response.
	if response.GetError() != "" {
		return fmt.Errorf("%s", strings.TrimSpace(response.GetError()))
	}
	for _, file := range response.GetFile() {
		name := filepath.Join(folder, filepath.FromSlash(file.GetName()))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
