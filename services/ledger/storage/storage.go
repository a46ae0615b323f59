// Package storage measures the free space of the volume that holds the database, and rejects
// uploads before the volume is full.
//
// PostgreSQL does not report the free space of its volume, so the service can only measure it on
// the same machine, as in `make run`. In a cluster the folder is not set, and the kubelet measures
// the volumes (docs/operations.md). The last part of the space is for small writes: users can still
// enter transactions and delete files while the operator makes room.
package storage

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Minimum is the share of the volume below which uploads are rejected.
const Minimum = 0.05

// ErrFull is the public error for an upload while less than the minimum is free.
var ErrFull = apierr.New(restv1.Reason_STORAGE_FULL)

// Volume is the volume that contains a folder. The zero Volume is unknown: it is never full.
type Volume struct {
	Folder string
	// Minimum is the share of free space below which the volume counts as full.
	Minimum float64
}

// Free returns the share of the volume that is free, between 0 and 1. It returns false if the
// volume is unknown or cannot be measured.
func (v Volume) Free() (share float64, known bool) {
	var stat syscall.Statfs_t
	if v.Folder == "" || syscall.Statfs(v.Folder, &stat) != nil || stat.Blocks == 0 {
		return 0, false
	}
	return float64(stat.Bavail) / float64(stat.Blocks), true
}

// Check returns ErrFull if less than the minimum is free. Callers are the RPCs that store files.
func (v Volume) Check() error {
	if share, known := v.Free(); known && share < v.Minimum {
		return ErrFull
	}
	return nil
}

// Measure publishes the free share as a metric until stop is called. An unknown volume has none.
func (v Volume) Measure() (stop func() error, err error) {
	meter := otel.Meter("github.com/coffer-budget/coffer/services/ledger/storage")
	free, err := meter.Float64ObservableGauge("ledger.storage.free", metric.WithUnit("1"),
		metric.WithDescription("Share of the database's volume that is free."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	registered, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		if share, known := v.Free(); known {
			o.ObserveFloat64(free, share)
		}
		return nil
	}, free)
	if err != nil {
		return nil, errors.Join(errors.New("setting up metrics"), err)
	}
	return registered.Unregister, nil
}
