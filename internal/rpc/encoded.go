package rpc

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// Encoded is a reply as it was sent, in protobuf's wire format, for a caller that only passes it on. Its bytes are reused.
type Encoded []byte

// InvokeEncoded makes a call and leaves its reply encoded.
func InvokeEncoded(ctx context.Context, conn grpc.ClientConnInterface, method string, req any, reply *Encoded, opts ...grpc.CallOption) error {
	return conn.Invoke(ctx, method, req, reply, append(opts, grpc.ForceCodecV2(asSent{encoding.GetCodecV2(proto.Name)}))...)
}

// asSent is protobuf's codec that decodes nothing.
type asSent struct{ encoding.CodecV2 }

// Unmarshal implements encoding.CodecV2.
func (asSent) Unmarshal(data mem.BufferSlice, v any) error {
	reply, ok := v.(*Encoded)
	if !ok {
		return fmt.Errorf("a reply of the type %T", v)
	}
	*reply = (*reply)[:0]
	for _, part := range data {
		*reply = append(*reply, part.ReadOnlyData()...)
	}
	return nil
}
