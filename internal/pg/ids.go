package pg

import (
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

// registerIDs registers a codec that copies the 16 bytes of a uuid.UUID. Without it pgx converts
// each id to text and back, because uuid.UUID implements the interfaces of database/sql. For the
// ids of 64 creates that takes 25 times as long (BenchmarkEncodeIDs, ADR 69).
func registerIDs(types *pgtype.Map) {
	id := &pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: idCodec{}}
	types.RegisterType(id)
	types.RegisterType(&pgtype.Type{
		Name: "_uuid", OID: pgtype.UUIDArrayOID, Codec: &pgtype.ArrayCodec{ElementType: id},
	})
}

// idCodec is pgx's codec for uuid with fast paths for uuid.UUID, also one that may be NULL, in the
// binary format.
type idCodec struct{ pgtype.UUIDCodec }

func (c idCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if format == pgtype.BinaryFormatCode {
		switch value.(type) {
		case uuid.UUID:
			return idPlan{}
		case *uuid.UUID:
			return optionalIDPlan{}
		}
	}
	return c.UUIDCodec.PlanEncode(m, oid, format, value)
}

func (c idCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if format == pgtype.BinaryFormatCode {
		switch target.(type) {
		case *uuid.UUID:
			return idPlan{}
		case **uuid.UUID:
			return optionalIDPlan{}
		}
	}
	return c.UUIDCodec.PlanScan(m, oid, format, target)
}

type idPlan struct{}

func (idPlan) Encode(value any, buf []byte) ([]byte, error) {
	id, ok := value.(uuid.UUID)
	if !ok {
		return nil, fmt.Errorf("%T is not a UUID", value)
	}
	return append(buf, id[:]...), nil
}

func (idPlan) Scan(src []byte, target any) error {
	id, ok := target.(*uuid.UUID)
	if !ok || len(src) != len(id) {
		return fmt.Errorf("cannot scan %d bytes into %T", len(src), target)
	}
	copy(id[:], src)
	return nil
}

// optionalIDPlan encodes and scans an id that may be NULL. pgx encodes such an id through text, and
// scans it by reflection.
type optionalIDPlan struct{}

func (optionalIDPlan) Encode(value any, buf []byte) ([]byte, error) {
	id, ok := value.(*uuid.UUID)
	if !ok {
		return nil, fmt.Errorf("%T is not a pointer to a UUID", value)
	}
	if id == nil {
		return nil, nil // NULL
	}
	return append(buf, id[:]...), nil
}

func (optionalIDPlan) Scan(src []byte, target any) error {
	to, ok := target.(**uuid.UUID)
	if !ok {
		return fmt.Errorf("cannot scan an id into %T", target)
	}
	if src == nil {
		*to = nil
		return nil
	}
	*to = new(uuid.UUID)
	return idPlan{}.Scan(src, *to)
}
