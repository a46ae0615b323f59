#!/usr/bin/env bash
# Applies the dev overlay to the cluster that kubectl points at, waits, and tests it there. The images must be on the nodes
# (make images, then ctr, kind or minikube load .cache/images/*.tar), besides nats and postgres. BASE_URL is where the
# gateway answers; without it the Service's address, which works on a node.
set -euo pipefail
cd "$(dirname "$0")"

kubectl apply --validate=strict -k overlays/dev
# The tests ask more often than any user would.
kubectl --namespace=coffer set env deployment/gateway RATE_LIMIT=0
for workload in statefulset/postgres statefulset/nats deployment/auth deployment/ledger deployment/budget deployment/ocr deployment/gateway; do
	kubectl --namespace=coffer rollout status "$workload" --timeout=5m
done
export BASE_URL=${BASE_URL:-http://$(kubectl --namespace=coffer get service gateway -o jsonpath='{.spec.clusterIP}')}
GOWORK=off go -C ../../test test -count=1 ./...
GOWORK=off go test -count=1 -timeout=30m -v -run 'UnderLoad|Killed|Stranger' .
