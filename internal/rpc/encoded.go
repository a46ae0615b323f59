package rpc

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// Encoded is a reply in protobuf's wire format. A caller uses it to forward a reply without
// decoding. The next call with the same Encoded reuses its buffer.
type Encoded []byte

// InvokeEncoded makes a unary call and stores the encoded reply in reply.
func InvokeEncoded(
	ctx context.Context, conn grpc.ClientConnInterface, method string, req any, reply *Encoded,
	opts ...grpc.CallOption,
) error {
	return conn.Invoke(ctx, method, req, reply, append(opts, encodedReplies())...)
}

func encodedReplies() grpc.CallOption {
	return grpc.ForceCodecV2(asSent{encoding.GetCodecV2(proto.Name)})
}

// asSent is the protobuf codec of encodedReplies: it encodes requests and copies replies.
type asSent struct{ encoding.CodecV2 }

func (asSent) Unmarshal(data mem.BufferSlice, v any) error {
	reply, ok := v.(*Encoded)
	if !ok {
		return fmt.Errorf("cannot store an encoded reply in %T", v)
	}
	*reply = (*reply)[:0]
	for _, part := range data {
		*reply = append(*reply, part.ReadOnlyData()...)
	}
	return nil
}
