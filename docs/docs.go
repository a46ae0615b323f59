// Package docs has no code. Its tests compare the pages in this folder, and those at the root of
// the repository, with the code:
//
//   - configuration.md lists each environment variable with its readers and its default.
//   - errors.md lists each error code with its HTTP statuses.
//   - events.md lists each event with its subject and its fields.
//   - adr/README.md lists each decision record. Numbers of records, anywhere in the repository,
//     exist.
//   - Links lead to files that exist. Names of tests are names of tests.
//
// The tests parse the sources of the services and do not import them, so that this module depends
// only on the protos. They need no PostgreSQL: `make test MODULE=docs` runs them in seconds. After
// a change of a page use -count=1, because Go's test cache only tracks files of this module. Tests
// that run the commands of a page against a stack are in test/.
package docs
