package app

import (
	"errors"
	"os"
	"reflect"
	"strings"
)

// Named is a configuration of the type T for each name in a list, such as
// OIDC_PROVIDERS=google,home. The fields of T are strings. Their tags have <NAME> for the name in
// upper case: `env:"OIDC_<NAME>_ISSUER"`.
type Named[T any] struct {
	// Names are in the order of the list.
	Names []string
	Of    map[string]T
}

// UnmarshalText sets the names of a list that is separated by commas. ParseEnv sets the rest.
func (n *Named[T]) UnmarshalText(list []byte) error {
	for name := range strings.SplitSeq(string(list), ",") {
		if name = strings.TrimSpace(name); name != "" {
			n.Names = append(n.Names, name)
		}
	}
	return nil
}

// load sets the configurations from variables. It sets each variable with the option unset to "".
func (n *Named[T]) load(environment map[string]string) error {
	var problems []error
	n.Of = make(map[string]T, len(n.Names))
	for _, name := range n.Names {
		variable := strings.NewReplacer("<NAME>", strings.ToUpper(name))
		problems = append(problems, readFiles(reflect.TypeFor[T](), environment, variable))
		var config T
		for field, value := range reflect.ValueOf(&config).Elem().Fields() {
			key, options, _ := strings.Cut(variable.Replace(field.Tag.Get("env")), ",")
			if environment != nil {
				value.SetString(environment[key])
				continue
			}
			value.SetString(os.Getenv(key))
			if options == "unset" {
				problems = append(problems, os.Unsetenv(key))
			}
		}
		n.Of[name] = config
	}
	return errors.Join(problems...)
}

// loadNamed loads all fields of the type Named.
func loadNamed(config reflect.Value, environment map[string]string) error {
	var problems []error
	for field, value := range config.Fields() {
		if !field.IsExported() || value.Kind() != reflect.Struct {
			continue
		}
		named, ok := value.Addr().Interface().(interface {
			load(environment map[string]string) error
		})
		if ok {
			problems = append(problems, named.load(environment))
		} else {
			problems = append(problems, loadNamed(value, environment))
		}
	}
	return errors.Join(problems...)
}
