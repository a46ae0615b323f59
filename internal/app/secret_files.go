package app

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
)

// readFiles sets each secret of a configuration whose variable is not set, and for which NAME_FILE
// names a file, to the content of that file without a final newline. The secrets are the variables
// that env unsets after reading. environment is changed, or that of the process if it is nil.
func readFiles(
	config reflect.Type, environment map[string]string, variable *strings.Replacer,
) error {
	get, set := os.Getenv, os.Setenv
	if environment != nil {
		get = func(name string) string { return environment[name] }
		set = func(name, value string) error {
			environment[name] = value
			return nil
		}
	}
	var problems []error
	for _, name := range secrets(config) {
		name = variable.Replace(name)
		path := get(name + "_FILE")
		if path == "" {
			continue
		}
		if get(name) != "" {
			problems = append(problems, fmt.Errorf("set %s or %s_FILE, not both", name, name))
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			problems = append(problems, fmt.Errorf("reading %s_FILE: %w", name, err))
			continue
		}
		if err := set(name, strings.TrimSuffix(string(content), "\n")); err != nil {
			problems = append(problems, fmt.Errorf("reading %s_FILE: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// secrets returns the variables of a configuration that are secrets.
func secrets(config reflect.Type) []string {
	var names []string
	for field := range config.Fields() {
		options := strings.Split(field.Tag.Get("env"), ",")
		if slices.Contains(options, "unset") {
			names = append(names, options[0])
		}
		if options[0] == "" && field.Type.Kind() == reflect.Struct {
			names = append(names, secrets(field.Type)...)
		}
	}
	return names
}
