package app

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// ParseEnv reads a configuration, a struct with `env` tags, from environment, or from the process's
// environment if that is nil. A secret NAME may be in the file NAME_FILE instead. The error names
// every missing or malformed variable and the values that it accepts. It does not repeat a
// malformed value, because the value may be a secret that was assigned to the wrong variable.
func ParseEnv[C any](environment map[string]string) (C, error) {
	if err := readFiles(reflect.TypeFor[C](), environment, strings.NewReplacer()); err != nil {
		var none C
		return none, err
	}
	config, err := env.ParseAsWithOptions[C](env.Options{Environment: environment})
	var all env.AggregateError
	if !errors.As(err, &all) {
		if err == nil {
			err = loadNamed(reflect.ValueOf(&config).Elem(), environment)
		}
		return config, err
	}
	problems := make([]error, len(all.Errors))
	for i, problem := range all.Errors {
		problems[i] = problem
		if malformed, ok := errors.AsType[env.ParseError](problem); ok {
			if variable := variableOf(reflect.TypeFor[C](), malformed); variable != "" {
				problems[i] = fmt.Errorf("%s must be %s", variable, allowed(malformed.Type))
			}
		}
	}
	return config, errors.Join(problems...)
}

// variableOf returns the variable of the field that an error is about, or "" if there is no such
// field. The error itself has only the field's name and type.
func variableOf(config reflect.Type, malformed env.ParseError) string {
	for field := range config.Fields() {
		variable, _, _ := strings.Cut(field.Tag.Get("env"), ",")
		if variable != "" && field.Name == malformed.Name && field.Type == malformed.Type {
			return variable
		}
		if variable == "" && field.Type.Kind() == reflect.Struct {
			if variable = variableOf(field.Type, malformed); variable != "" {
				return variable
			}
		}
	}
	return ""
}

func allowed(kind reflect.Type) string {
	switch {
	case kind == reflect.TypeFor[slog.Level]():
		return "DEBUG, INFO, WARN or ERROR"
	case kind == reflect.TypeFor[time.Duration]():
		return "a duration like 90s or 1h30m"
	case kind.Kind() == reflect.Bool:
		return "true or false"
	case reflect.Int <= kind.Kind() && kind.Kind() <= reflect.Uint64:
		return "a whole number"
	case kind.Kind() == reflect.Float64:
		return "a number"
	}
	return "a valid " + kind.String()
}
