module github.com/coffer-budget/coffer/tools/generate

go 1.26.0

require (
	github.com/bufbuild/protocompile v0.14.1
	github.com/coffer-budget/coffer/proto v0.0.0
	google.golang.org/genproto/googleapis/api v0.0.0-20261005182115-fad411399dd8
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261005182115-fad411399dd8
	google.golang.org/protobuf v1.36.12
)

replace github.com/coffer-budget/coffer/proto => ../../proto

tool (
	github.com/coffer-budget/coffer/tools/generate/generate-protos
	github.com/coffer-budget/coffer/tools/generate/protoc-gen-coffer-errors
	github.com/coffer-budget/coffer/tools/generate/protoc-gen-coffer-openapi
	google.golang.org/grpc/cmd/protoc-gen-go-grpc
	google.golang.org/protobuf/cmd/protoc-gen-go
)

require (
	golang.org/x/sync v0.23.0 // indirect
	google.golang.org/grpc/cmd/protoc-gen-go-grpc v1.6.2 // indirect
)
