#!/usr/bin/env bash
# Applies the dev overlay to the cluster that kubectl points at, waits until all of it is ready, and tests it there: the
# contract tests, restarts under load, a killed pod, a pod that no policy names, and that a second apply changes nothing.
#
# The images must be on the nodes (make images, then ctr, kind or minikube load .cache/images/*.tar), besides those of NATS,
# PostgreSQL and the collector.
#
#   BASE_URL         where the gateway answers; by default the Service's address, which works on a node
#   COLLECTOR=skip   does not wait for the OpenTelemetry collector, for a cluster that cannot get its image
set -euo pipefail
cd "$(dirname "$0")"
k() { kubectl --namespace=coffer "$@"; }

# The dev images always have the same tag, and a Job that has run does not run again.
k delete job --selector=app.kubernetes.io/name=migration --ignore-not-found
kubectl apply --validate=strict -k overlays/dev
workloads=(statefulset/postgres statefulset/nats deployment/auth deployment/ledger deployment/budget deployment/ocr deployment/gateway)
[ "${COLLECTOR:-}" = skip ] || workloads+=(deployment/collector)
await() { for workload in "${workloads[@]}"; do k rollout status "$workload" --timeout=5m; done; }
await
# kubectl sends the selector of a PodDisruptionBudget with each apply (its type says patchStrategy: replace), and reports the
# object as configured although it stays as it is.
again=$(kubectl apply --validate=strict -k overlays/dev)
if grep -v -e ' unchanged$' -e '^poddisruptionbudget' <<<"$again"; then
	echo "A second apply must leave every object unchanged." >&2
	exit 1
fi

# The tests ask more often than any user would.
k set env deployment/gateway RATE_LIMIT=0
trap 'k set env deployment/gateway RATE_LIMIT- && k rollout status deployment/gateway --timeout=5m' EXIT
await
export BASE_URL=${BASE_URL:-http://$(k get service gateway -o jsonpath='{.spec.clusterIP}')}
GOWORK=off go -C ../../test test -count=1 .
GOWORK=off go test -count=1 -timeout=30m -v -run 'UnderLoad|Killed|Stranger' .
