#!/usr/bin/env bash
# Applies the dev overlay to kubectl's current cluster, waits until everything is ready, and tests it: the contract tests, restarts
# under load, a killed pod, a pod that no NetworkPolicy allows, and a second apply, which must change nothing.
#
# The nodes must have the images (make images, then ctr, kind or minikube load .cache/images/*.tar). The images of NATS, PostgreSQL
# and the collector are pulled.
#
#   BASE_URL         URL of the gateway; by default the address of its Service, because nodes can reach it
#   COLLECTOR=skip   do not wait for the OpenTelemetry collector, if the cluster cannot pull its image
set -euo pipefail
cd "$(dirname "$0")"
k() { kubectl --namespace=coffer "$@"; }

# The dev images always have the same tag, so a completed Job would not run again for new images.
k delete job --selector=app.kubernetes.io/name=migration --ignore-not-found
# An interrupted run may have left this setting, which no apply removes because the manifests do not contain it.
! k get deployment/gateway >/dev/null 2>&1 || k set env deployment/gateway RATE_LIMIT-
kubectl apply --validate=strict -k overlays/dev
workloads=(statefulset/postgres statefulset/nats deployment/auth deployment/ledger deployment/budget deployment/ocr deployment/gateway)
[ "${COLLECTOR:-}" = skip ] || workloads+=(deployment/collector)
await() { for workload in "${workloads[@]}"; do k rollout status "$workload" --timeout=5m; done; }
await
# kubectl sends the selector of a PodDisruptionBudget with each apply (its type has patchStrategy: replace), and reports the object as
# configured although it does not change.
again=$(kubectl apply --validate=strict -k overlays/dev)
if grep -v -e ' unchanged$' -e '^poddisruptionbudget' <<<"$again"; then
	echo "A second apply must leave every object unchanged." >&2
	exit 1
fi

# The tests send more requests per second than a user may.
k set env deployment/gateway RATE_LIMIT=0
trap 'k set env deployment/gateway RATE_LIMIT- && k rollout status deployment/gateway --timeout=5m' EXIT
await
export BASE_URL=${BASE_URL:-http://$(k get service gateway -o jsonpath='{.spec.clusterIP}')}
GOWORK=off go -C ../../test test -count=1 -timeout=30m .
GOWORK=off go test -count=1 -timeout=30m -v -run 'RollingRestart|KilledPod|UnlistedPod' .
