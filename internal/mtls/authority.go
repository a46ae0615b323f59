package mtls

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Authority issues certificates for `make run` and tests. In production cert-manager does. Its key
// exists in memory only.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	now         func() time.Time
}

// NewAuthority returns a new authority whose certificate is valid for ten years.
func NewAuthority(now func() time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("creating the authority's key: %w", err)
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "coffer"}, NotBefore: now().Add(-time.Minute),
		NotAfter: now().AddDate(10, 0, 0),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making the authority's certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("making the authority's certificate: %w", err)
	}
	return &Authority{certificate: certificate, key: key, now: now}, nil
}

// Issue writes a service's certificate, its key and the authority's certificate into dir, with the
// file names that Kubernetes uses, and returns their paths. others are additional DNS names,
// because each NATS server has one besides the shared name.
func (a *Authority) Issue(
	dir, service string, life time.Duration, others ...string,
) (Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Config{}, fmt.Errorf("creating a key: %w", err)
	}
	template := &x509.Certificate{
		DNSNames:    append([]string{service}, others...),
		NotBefore:   a.now().Add(-time.Minute),
		NotAfter:    a.now().Add(life),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Config{}, fmt.Errorf("creating a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Config{}, fmt.Errorf("encoding a key: %w", err)
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	c := Config{Cert: path("tls.crt"), Key: path("tls.key"), CA: path("ca.crt")}
	return c, errors.Join(
		os.MkdirAll(dir, 0o700),
		write(c.CA, "CERTIFICATE", a.certificate.Raw), write(c.Key, "PRIVATE KEY", private),
		write(c.Cert, "CERTIFICATE", der))
}

func write(name, kind string, der []byte) error {
	return os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
