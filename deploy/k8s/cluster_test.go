package k8s

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// These tests need the dev overlay on kubectl's current cluster, and BASE_URL as the URL of its
// gateway. make k8s-test sets it.

// TestRollingRestart restarts each service under load, and no request may fail. The ledger is
// restarted twice in a row, so that pods terminate before all DNS caches contain them. The load
// ends after the last old pod.
//
//nolint:paralleltest // It restarts services that the other tests use.
func TestRollingRestart(t *testing.T) {
	l := startLoad(t)
	before := pods(t)
	for _, service := range []string{"gateway", "ledger", "ledger", "auth", "budget", "ocr"} {
		kubectl(t, "rollout", "restart", "deployment/"+service)
		kubectl(t, "rollout", "status", "deployment/"+service, "--timeout=5m")
	}
	kubectl(t, append([]string{"wait", "--for=delete", "--timeout=5m"}, before...)...)
	answered := l.stop(t)
	t.Logf("%d requests answered", answered)
	require.Empty(t, l.failures())
}

// pods lists the services' pods.
func pods(t *testing.T) []string {
	t.Helper()
	selector := nameLabel + " in (" + strings.Join(services, ",") + ")"
	return strings.Fields(kubectl(t, "get", "pods", "--selector="+selector, "--output=name"))
}

// TestKilledPod kills pods without a grace period. Requests may fail, but each acknowledged
// transaction exists once.
//
//nolint:paralleltest // It restarts services that the other tests use.
func TestKilledPod(t *testing.T) {
	for _, service := range []string{"ledger", "gateway"} {
		l := startLoad(t)
		pod := strings.Fields(kubectl(t, "get", "pods", "-l", nameLabel+"="+service,
			"-o", "jsonpath={.items[*].metadata.name}"))[0]
		kubectl(t, "delete", "pod", pod, "--grace-period=0", "--force")
		kubectl(t, "rollout", "status", "deployment/"+service, "--timeout=5m")
		t.Logf("%s: %d requests answered, %d failed", service, l.stop(t), len(l.failures()))
	}
}

// TestUnlistedPod runs a gateway in a pod that no NetworkPolicy allows. It cannot connect to the
// services, so it never becomes ready.
//
//nolint:paralleltest // The other tests restart services that it calls.
func TestUnlistedPod(t *testing.T) {
	requireCluster(t)
	var gateway appsv1.Deployment
	require.NoError(t,
		json.Unmarshal([]byte(kubectl(t, "get", "deployment", "gateway", "-o", "json")), &gateway))
	stranger := corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "stranger", Labels: map[string]string{nameLabel: "stranger"},
		},
		Spec: gateway.Spec.Template.Spec,
	}
	stranger.Spec.TopologySpreadConstraints = nil
	stranger.Spec.Containers[0].ReadinessProbe.HTTPGet.Path = "/readyz"
	manifest, err := json.Marshal(stranger)
	require.NoError(t, err)
	apply := exec.Command("kubectl", "--namespace=coffer", "apply", "--filename=-")
	apply.Stdin = bytes.NewReader(manifest)
	out, err := apply.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { kubectl(t, "delete", "pod", "stranger", "--grace-period=1") })
	wait := exec.Command("kubectl", "--namespace=coffer", "wait", "--for=condition=Ready",
		"pod/stranger", "--timeout=45s")
	if wait.Run() == nil {
		t.Skip("NOT SHOWN: this cluster's network does not enforce NetworkPolicies; the pod " +
			"reached all services")
	}
}

// load creates transactions from several clients until it is stopped.
type load struct {
	token, wallet, category string
	client                  *http.Client
	done                    chan struct{}
	workers                 sync.WaitGroup
	created                 atomic.Int64
	mu                      sync.Mutex
	failed                  []string
}

func startLoad(t *testing.T) *load {
	t.Helper()
	requireCluster(t)
	l := &load{client: &http.Client{Timeout: 30 * time.Second}, done: make(chan struct{})}
	email := fmt.Sprintf("load-%d@example.com", time.Now().UnixNano())
	l.must(t, "/auth/register",
		map[string]any{"name": "Load", "email": email, "password": "a long enough secret"})
	l.token = l.must(t, "/auth/login",
		map[string]any{"email": email, "password": "a long enough secret"})["accessToken"].(string)
	made := l.must(t, "/wallet", map[string]any{"name": "Load", "currency": "EUR", "balance": 0})
	l.wallet = made["wallet"].(map[string]any)["id"].(string)
	made = l.must(t, "/categories", map[string]any{"name": "Load"})
	l.category = made["category"].(map[string]any)["id"].(string)
	for worker := range 4 {
		l.workers.Add(1)
		go l.work(worker)
	}
	return l
}

func (l *load) work(worker int) {
	defer l.workers.Done()
	for i := 0; ; i++ {
		select {
		case <-l.done:
			return
		default:
		}
		status, _, err := l.post("/transaction", fmt.Sprintf("%d-%d", worker, i), map[string]any{
			"amount": 1, "type": "income", "currency": "EUR", "date": "2026-01-01",
			"walletId": l.wallet, "categoryId": l.category,
		})
		if err == nil && status == http.StatusCreated {
			l.created.Add(1)
			continue
		}
		l.mu.Lock()
		l.failed = append(l.failed, fmt.Sprint(status, " ", err))
		l.mu.Unlock()
	}
}

// stop requires that the wallet's balance includes all acknowledged transactions, and otherwise
// only those whose request failed. It returns the number of acknowledged ones.
func (l *load) stop(t *testing.T) int64 {
	t.Helper()
	close(l.done)
	l.workers.Wait()
	require.NotZero(t, l.created.Load())
	req, err := http.NewRequest(http.MethodGet, base()+"/wallet/"+l.wallet, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+l.token)
	resp, err := l.client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var answer struct{ Wallet struct{ Balance float64 } }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	balance := int64(answer.Wallet.Balance)
	require.GreaterOrEqual(t, balance, l.created.Load())
	require.LessOrEqual(t, balance, l.created.Load()+int64(len(l.failures())))
	return l.created.Load()
}

func (l *load) failures() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

func (l *load) must(t *testing.T, path string, body map[string]any) map[string]any {
	t.Helper()
	status, answer, err := l.post(path, "", body)
	require.NoError(t, err)
	require.Less(t, status, 300, "%s: %v", path, answer)
	return answer
}

func (l *load) post(
	path, key string, body map[string]any,
) (status int, answer map[string]any, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequest(http.MethodPost, base()+path, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if l.token != "" {
		req.Header.Set("Authorization", "Bearer "+l.token)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	return resp.StatusCode, answer, json.NewDecoder(resp.Body).Decode(&answer)
}

func base() string { return os.Getenv("BASE_URL") + "/api/v1" }

func requireCluster(t *testing.T) {
	t.Helper()
	if os.Getenv("BASE_URL") == "" {
		t.Skip("needs a cluster: make k8s-test")
	}
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	args = append([]string{"--namespace=coffer"}, args...)
	out, err := exec.Command("kubectl", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
