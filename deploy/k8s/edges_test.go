package k8s

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	acme "github.com/cert-manager/cert-manager/pkg/apis/acme/v1"
	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const nameLabel = "app.kubernetes.io/name"

// replicas are the edges between replicas of NATS and of PostgreSQL, which exist only in
// production.
var replicas = []string{"nats nats:6222", "postgres postgres:5432", "postgres postgres:8000"}

// TestNetworkPoliciesMatchCallGraph compares the policies with the call graph, which it derives
// from the required settings of the services.
func TestNetworkPoliciesMatchCallGraph(t *testing.T) {
	t.Parallel()
	called := callGraph(t)
	require.NotEmpty(t, called)
	for _, overlay := range overlays {
		policies := manifests[*networkingv1.NetworkPolicy](t, overlay)
		into, outOf, outside := map[string]bool{}, map[string]bool{}, map[string]bool{}
		denied := false
		for _, p := range policies {
			if reflect.ValueOf(p.Spec.PodSelector).IsZero() {
				denied = denied || len(p.Spec.PolicyTypes) == 2 && p.Spec.Ingress == nil &&
					p.Spec.Egress == nil
				continue
			}
			if isSolver(p) {
				continue
			}
			selves := named(t, []networkingv1.NetworkPolicyPeer{{PodSelector: &p.Spec.PodSelector}})
			require.NotEmpty(t, selves, p.Name)
			for _, rule := range p.Spec.Ingress {
				add(into, named(t, rule.From), selves, rule.Ports)
			}
			for _, rule := range p.Spec.Egress {
				if slices.ContainsFunc(rule.To,
					func(p networkingv1.NetworkPolicyPeer) bool { return p.IPBlock != nil }) {
					outside[selves[0]] = true
					requireInternet(t, rule.To)
					continue
				}
				add(outOf, selves, named(t, rule.To), rule.Ports)
			}
		}
		require.True(t, denied, "one policy must deny everything by default")
		require.Equal(t, map[string]bool{"budget": true}, outside,
			"only webhooks may leave the cluster")
		want := called
		if overlay == "production" {
			want = slices.Sorted(slices.Values(slices.Concat(called, replicas)))
		}
		require.Equal(t, want, slices.Sorted(maps.Keys(into)), "%s: ingress", overlay)
		// PostgreSQL's egress to the API server has no name that this test could compare.
		require.Equal(t, want, slices.Sorted(maps.Keys(outOf)), "%s: egress", overlay)
	}
}

// TestNetworkPolicyForDNS checks that pods may connect to the cluster's DNS and to a DNS cache on
// their node.
func TestNetworkPolicyForDNS(t *testing.T) {
	t.Parallel()
	for _, overlay := range overlays {
		policies := manifests[*networkingv1.NetworkPolicy](t, overlay)
		names := policies[slices.IndexFunc(policies,
			func(p *networkingv1.NetworkPolicy) bool { return p.Name == "names" })].Spec
		require.Equal(t, metav1.LabelSelector{}, names.PodSelector)
		require.Len(t, names.Egress, 1)
		require.Len(t, names.Egress[0].To, 2)
		cluster, node := names.Egress[0].To[0], names.Egress[0].To[1]
		require.Equal(t, "kube-system",
			cluster.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"])
		require.Equal(t, []string{"kube-dns", "node-local-dns"},
			cluster.PodSelector.MatchExpressions[0].Values)
		require.Equal(t, networkingv1.NetworkPolicyPeer{
			IPBlock: &networkingv1.IPBlock{CIDR: "169.254.20.10/32"},
		}, node)
		for _, port := range names.Egress[0].Ports {
			require.Equal(t, "53", port.Port.String())
		}
	}
}

func TestManifests(t *testing.T) {
	t.Parallel()
	t.Run("do not allow webhooks to private addresses", func(t *testing.T) {
		t.Parallel()
		const setting = "WEBHOOK_PRIVATE_ADDRESSES"
		code, err := os.ReadFile("../../services/budget/budget.go")
		require.NoError(t, err)
		require.Contains(t, string(code), `env:"`+setting+`"`, "the setting was renamed")
		files := 0
		for _, dir := range []string{"base", "components", "overlays"} {
			walked := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				require.NotContains(t, string(text), setting, path)
				files++
				return err
			})
			require.NoError(t, walked)
		}
		require.Greater(t, files, 20)
	})
}

// TestNetworkPolicyForHTTPChallenge checks that only the proxies may connect to cert-manager's pods
// for HTTP-01 challenges, which run in the namespace of the Certificate.
func TestNetworkPolicyForHTTPChallenge(t *testing.T) {
	t.Parallel()
	policies := manifests[*networkingv1.NetworkPolicy](t, "production")
	solver := policies[slices.IndexFunc(policies, isSolver)]
	gateway := policies[slices.IndexFunc(policies,
		func(p *networkingv1.NetworkPolicy) bool { return p.Name == "gateway-from-outside" })]
	require.Len(t, solver.Spec.Ingress, 1)
	require.Equal(t, gateway.Spec.Ingress[0].From, solver.Spec.Ingress[0].From)
	require.Equal(t, "8089", solver.Spec.Ingress[0].Ports[0].Port.String())
	require.Empty(t, solver.Spec.Egress)
}

func isSolver(p *networkingv1.NetworkPolicy) bool {
	return p.Spec.PodSelector.MatchLabels[acme.SolverIdentificationLabelKey] == "true"
}

// TestServiceAddresses checks that each service has its required settings, and the right addresses
// of the services that it calls.
func TestServiceAddresses(t *testing.T) {
	t.Parallel()
	for _, overlay := range overlays {
		for _, d := range deployments(t, overlay) {
			environment := map[string]string{}
			for _, e := range d.Spec.Template.Spec.Containers[0].Env {
				environment[e.Name] = e.Value
			}
			for _, name := range required(t, d.Name) {
				require.Contains(t, environment, name, d.Name)
				if callee, ok := strings.CutSuffix(name, "_ADDR"); ok {
					require.Equal(t, strings.ToLower(callee)+":9000", environment[name], d.Name)
				}
			}
		}
	}
}

// named returns the names of the peers. It omits peers in other namespaces, which do not belong to
// Coffer.
func named(t *testing.T, peers []networkingv1.NetworkPolicyPeer) []string {
	t.Helper()
	var names []string
	for _, p := range peers {
		if p.NamespaceSelector != nil {
			require.NotEmpty(t, p.NamespaceSelector.MatchLabels,
				"a policy must not allow all namespaces")
			continue
		}
		require.NotNil(t, p.PodSelector)
		if name := p.PodSelector.MatchLabels[nameLabel]; name != "" {
			names = append(names, name)
		}
		for _, e := range p.PodSelector.MatchExpressions {
			require.Equal(t, nameLabel, e.Key)
			require.Equal(t, metav1.LabelSelectorOpIn, e.Operator)
			names = append(names, e.Values...)
		}
	}
	return names
}

// requireInternet requires that the peers exclude all private addresses.
func requireInternet(t *testing.T, peers []networkingv1.NetworkPolicyPeer) {
	t.Helper()
	for _, p := range peers {
		require.NotNil(t, p.IPBlock)
		if p.IPBlock.CIDR == "2000::/3" {
			continue
		}
		require.Equal(t, "0.0.0.0/0", p.IPBlock.CIDR)
		require.ElementsMatch(t, []string{
			"10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
			"192.168.0.0/16",
		}, p.IPBlock.Except)
	}
}

func add(edges map[string]bool, from, to []string, ports []networkingv1.NetworkPolicyPort) {
	for _, f := range from {
		for _, t := range to {
			for _, p := range ports {
				edges[fmt.Sprintf("%s %s:%s", f, t, p.Port.String())] = true
			}
		}
	}
}

// callGraph returns the edges of the call graph as "caller callee:port".
func callGraph(t *testing.T) []string {
	t.Helper()
	edges := []string{"migration postgres:5432"}
	for _, service := range services {
		// Each service exports spans.
		edges = append(edges, service+" collector:4317")
		for _, name := range required(t, service) {
			switch callee, isAddr := strings.CutSuffix(name, "_ADDR"); {
			case isAddr:
				edges = append(edges, fmt.Sprintf("%s %s:9000", service, strings.ToLower(callee)))
			case name == "DATABASE_URL":
				edges = append(edges, service+" postgres:5432")
			case name == "NATS_URL":
				edges = append(edges, service+" nats:4222")
			}
		}
	}
	slices.Sort(edges)
	return edges
}

// required returns the variables without which a service does not start, according to the tags of
// its Config.
func required(t *testing.T, service string) []string {
	t.Helper()
	dir := "../../services/" + service
	if service == "gateway" {
		dir = "../../gateway"
	}
	tag := regexp.MustCompile("`env:\"(\\w+),required")
	found := map[string]bool{}
	collect := func(dir string) string {
		files, err := filepath.Glob(dir + "/*.go")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		var all strings.Builder
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			all.Write(text)
		}
		for _, m := range tag.FindAllStringSubmatch(all.String(), -1) {
			found[m[1]] = true
		}
		return all.String()
	}
	code := collect(dir)
	for embedded, from := range map[string]string{
		"rpc.Config": "../../internal/rpc", "outbox.Config": "../../internal/outbox",
	} {
		line := regexp.MustCompile(`(?m)^\s(\w+ )?` + regexp.QuoteMeta(embedded) + `$`)
		if line.MatchString(code) {
			collect(from)
		}
	}
	return slices.Sorted(maps.Keys(found))
}
