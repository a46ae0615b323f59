BIN := $(CURDIR)/.bin
SERVICES := auth ledger budget ocr gateway
# APART lists the modules with code of this repository that are not in the workspace.
APART := deploy/k8s deploy/telemetry tools/generate tools/images tools/prose
TOOLS := $(APART) tools/actionlint tools/benchstat tools/grpcurl tools/licenses tools/lint tools/oapi-codegen tools/oasdiff tools/vegeta tools/versitygw tools/vulns
# PROTOS is the last release of grpc-gateway with a copy of the googleapis protos. No current Go module contains them.
PROTOS := github.com/grpc-ecosystem/grpc-gateway@v1.16.0
COFFER = CPU_SECONDS=130 tools/progress.sh coffer go build -o $(BIN)/coffer ./devstack/cmd/coffer
WITH_POSTGRES = tools/progress.sh with-postgres go build -o $(BIN)/with-postgres ./devstack/cmd/with-postgres
# NEURAL downloads and builds the neural engine for receipts. Without it, Coffer reads receipts with Tesseract alone.
NEURAL = { services/ocr/neural/fetch.sh .cache/neural && CGO_ENABLED=0 go build -trimpath -o .cache/neural/ocr-neural ./services/ocr/cmd/ocr-neural; } \
	|| echo "Receipts are read with Tesseract alone."
export OCR_NEURAL ?= $(CURDIR)/.cache/neural
# buf compiles for minutes, so its program comes from npm.
BUF := tools/buf/node_modules/.bin/buf
# VERSIONS lists the module and version of each package that some packages and their tests import, except those of this repository.
VERSIONS = go list -deps -test -f '{{with .Module}}{{if .Version}}{{if not .Replace}}{{.Path}} {{.Version}}{{end}}{{end}}{{end}}'
WITHOUT_WORKSPACE = for dir in $$(go list -m -f '{{.Dir}}'); do cd $$dir && echo "$${dir\#$(CURDIR)/}" && 

.PHONY: help
help: ## Show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: run
run: ## Run all of Coffer on this machine, until Ctrl-C (docs/configuration.md lists its settings, such as HTTP_ADDR and DATA_DIR)
	@devstack/install.sh
	@$(NEURAL)
	@$(COFFER)
	@exec $(BIN)/coffer

.PHONY: backup
backup: ## Back up the data of make run, while it runs, into a new folder (TO=folder)
	@$(COFFER)
	@$(BIN)/coffer backup $(or $(TO),$(error name the folder: make backup TO=folder))

.PHONY: restore
restore: ## Restore a backup into a new data directory for the next make run (FROM=folder, DATA_DIR=folder)
	@$(COFFER)
	@$(BIN)/coffer restore $(or $(FROM),$(error name the backup: make restore FROM=folder DATA_DIR=folder))

.PHONY: demo
demo: ## Fill an account of the running Coffer with a year of a household (DEMOFLAGS=-url=https://coffer.example)
	@go run ./test/cmd/demo $(DEMOFLAGS)

.PHONY: test
test: ## Run the tests on a temporary PostgreSQL (MODULE=services/ledger: only that module; TESTFLAGS=-race)
	@devstack/install.sh $(if $(filter-out services/ledger services/ocr devstack test,$(MODULE)),database,test)
ifeq ($(filter-out services/ocr devstack test,$(MODULE)),)
	@$(NEURAL)
endif
	@$(WITH_POSTGRES)
ifdef MODULE
	@GOWORK=off tools/progress.sh "$(MODULE)" go -C $(MODULE) vet ./...
	@GOWORK=off tools/failures.sh $(BIN)/with-postgres go -C $(MODULE) test -vet=off $(if $(filter docs,$(MODULE)),-count=1) $(TESTFLAGS) ./...
else
	@tools/progress.sh "all packages" go vet work
	@echo "Compiling and running all tests. On a new machine the first results appear after some minutes."
	@# The tests in docs read files of all modules. Go's test cache does not notice changes of files in other modules.
	@tools/failures.sh go test -count=1 ./docs
	@# The packages of test take minutes, and often only wait. They start first, so that other packages run meanwhile.
	@# go vet has already run on all packages. On a busy machine, ./test takes longer than the ten minutes that go test allows by default.
	@tools/failures.sh $(BIN)/with-postgres go test -vet=off -timeout=30m $(TESTFLAGS) ./test/... work
endif

.PHONY: s3-test
s3-test: $(BIN)/versitygw ## Test files in an object store with a real S3 server, versitygw, and with kills
	@devstack/install.sh database
	@$(WITH_POSTGRES)
	@VERSITYGW=$(BIN)/versitygw tools/failures.sh $(BIN)/with-postgres go -C services/ledger test -count=1 $(TESTFLAGS) ./files/...

.PHONY: chaos
chaos: ## Inject faults into a stack under load for three minutes and check every guarantee (CHAOSFLAGS=-seed=1)
	@devstack/install.sh
	@$(NEURAL)
	@go run ./test/cmd/chaos $(CHAOSFLAGS)

.PHONY: bench
bench: ## Measure Coffer against its goals and write docs/benchmarks.md (BENCHFLAGS=-short: a quick run that writes nothing)
	@devstack/install.sh bench
	@$(NEURAL)
	@go run ./test/cmd/bench $(or $(BENCHFLAGS),-write docs/benchmarks.md)
	@$(WITH_POSTGRES)
	@$(BIN)/with-postgres go test -count=1 -v -run '^TestCosts$$' ./test

.PHONY: bench-receipts
bench-receipts: ## Read a folder of labeled receipts and score the results (DATA=folder with manifest.jsonl and score)
	@mkdir -p .cache
	@devstack/install.sh
	@$(NEURAL)
	@$(WITH_POSTGRES)
	@RECEIPTS_DATA=$(abspath $(or $(DATA),$(error name the receipts: make bench-receipts DATA=folder))) RECEIPTS_OUT=$(CURDIR)/.cache/receipts.jsonl \
		$(BIN)/with-postgres go -C services/ocr test -run '^TestBenchReceipts$$' -count=1 -timeout=2h -v .
	@python3 $(DATA)/score $(DATA)/manifest.jsonl .cache/receipts.jsonl

.PHONY: bench-receipt-rules
bench-receipt-rules: ## Score the rules of receipts alone, in seconds: the engines read each file once, and their words are saved (DATA=folder)
	@mkdir -p .cache/receipt-words
	@devstack/install.sh
	@$(NEURAL)
	@RECEIPTS_DATA=$(abspath $(or $(DATA),$(error name the receipts: make bench-receipt-rules DATA=folder))) RECEIPTS_OUT=$(CURDIR)/.cache/receipt-rules.jsonl \
		RECEIPTS_WORDS=$(CURDIR)/.cache/receipt-words go -C services/ocr test ./recognition -run '^TestBenchRules$$' -count=1 -timeout=2h -v
	@python3 $(DATA)/score $(DATA)/manifest.jsonl .cache/receipt-rules.jsonl

.PHONY: calibrate-receipts
calibrate-receipts: bench-receipt-rules ## Fit the confidences of receipts to labeled ones, and print how many values are right by confidence (DATA=folder)
	@RECEIPTS_DATA=$(abspath $(DATA)) RECEIPTS_WORDS=$(CURDIR)/.cache/receipt-words RECEIPTS_SCORES=$(CURDIR)/services/ocr/receipt/calibration/scores.txt \
		go -C services/ocr test ./recognition -run '^TestCalibrate$$' -count=1 -v

.PHONY: bench-receipts-hard
bench-receipts-hard: ## Read drawn receipts that are turned, tilted, dark, blurred, folded, large or long, and count the right ones
	@devstack/install.sh
	@$(NEURAL)
	@RECEIPTS_HARD=1 go -C services/ocr test ./recognition -run '^TestBenchHardInputs$$' -count=1 -timeout=1h -v

.PHONY: bench-receipts-several
bench-receipts-several: ## Read photos of two and three receipts, drawn and labeled ones, and count how they are divided (DATA=folder)
	@mkdir -p .cache/receipt-words
	@devstack/install.sh
	@$(NEURAL)
	@RECEIPTS_SEVERAL=$(abspath $(or $(DATA),$(error name the receipts: make bench-receipts-several DATA=folder))) \
		RECEIPTS_WORDS=$(CURDIR)/.cache/receipt-words go -C services/ocr test ./recognition -run '^TestBenchSeveral$$' -count=1 -timeout=2h -v

.PHONY: bench-import
bench-import: ## Read a folder of labeled statements and score the results (DATA=folder with manifest.jsonl; BENCHFLAGS=-v: the wrong files)
	@mkdir -p .cache
	@go run ./test/cmd/bench-import -data $(abspath $(or $(DATA),$(error name the statements: make bench-import DATA=folder))) -out .cache/statements.jsonl $(BENCHFLAGS)

.PHONY: bench-import-job
bench-import-job: ## Upload, change, commit and undo an import through REST while its two ledgers are killed, and print the time of each step (IMPORT_ROWS=10000: fewer rows; IMPORT_KILLS=0: no kills)
	@devstack/install.sh test
	@$(WITH_POSTGRES)
	@IMPORT_ROWS=$(or $(IMPORT_ROWS),199999) $(BIN)/with-postgres go test -run '^TestImportKilled$$' -count=1 -v -timeout 1h ./test/production

.PHONY: fuzz
fuzz: ## Fuzz each parser of data from outside, a minute each (FUZZTIME=10m; FUZZ=FuzzCSV: only the targets with that name)
	@git grep -E '^func $(or $(FUZZ),Fuzz[A-Za-z0-9]*)\(' -- '*_test.go' | sed -E 's|^(.*)/[^/]*:func ([A-Za-z0-9]*).*|\1 \2|' | while read -r folder target; do \
		echo "$$folder $$target"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzzminimizetime 10x -fuzztime $(or $(FUZZTIME),60s) "./$$folder" </dev/null || exit 1; \
	done

.PHONY: mutants
mutants: $(BIN)/versitygw ## Change one check, lock or limit at a time, and report changes that no test notices (PKG=services/auth; MUTANTSFLAGS=-list)
	@devstack/install.sh test
	@$(NEURAL)
	@$(WITH_POSTGRES)
	@go build -o $(BIN)/mutants ./test/cmd/mutants
	@VERSITYGW=$(BIN)/versitygw $(BIN)/with-postgres $(BIN)/mutants $(MUTANTSFLAGS) $(or $(PKG),services/auth $(addprefix services/auth/internal/,mail password signing) services/auth/internal/deletion=services/auth services/auth/internal/factors=services/auth services/auth/internal/oidc=services/auth services/auth/internal/tokens=services/auth services/auth/internal/invitations=services/auth services/ledger/erasure=services/ledger $(addprefix services/ledger/,posting request accounts transactions receipts reconciliations reports reads verify attachments files export imports rules rules/learning series settings sync tags transfers views) services/ledger/balances=services/ledger/series+services/ledger/reconciliations internal/jobs services/budget services/budget/internal/erasure=services/budget services/budget/internal/sharing=services/budget+services/budget/internal/goals $(addprefix services/budget/internal/,export goals notification spending webhook) services/ocr $(addprefix services/ocr/,recognition neural/process media tesseract sandbox worker) gateway $(addprefix gateway/internal/,cookie decode) $(addsuffix =gateway,$(addprefix gateway/internal/,admission console response transcoding)))

.PHONY: bench-compare
bench-compare: $(BIN)/benchstat ## Compare the Go benchmarks with those of another commit (BASE=origin/main)
	@devstack/install.sh
	@$(WITH_POSTGRES)
	@rm -rf .cache/compared && mkdir -p .cache/compared/before
	@git archive $(or $(BASE),HEAD) | tar -x -C .cache/compared/before && ln -s $(CURDIR) .cache/compared/now
	@$(BIN)/with-postgres sh -c 'cd .cache/compared; for round in 1 2 3 4 5 6; do for tree in before now; do \
		packages=$$(cd $$tree && grep -rl "^func Benchmark" --include=*_test.go internal services gateway | xargs -n1 dirname | sort -u | sed s,^,./,); \
		(cd -P $$tree && go test -run "^$$" -bench . -benchmem -benchtime 0.5s $$packages) >> $$tree.txt || exit 1; \
	done; done'
	$(BIN)/benchstat before=.cache/compared/before.txt now=.cache/compared/now.txt

.PHONY: load
load: $(BIN)/vegeta ## Measure throughput and latency at up to three times Coffer's capacity (LOADFLAGS=-short: a quick run)
	@devstack/install.sh bench
	@$(NEURAL)
	@# The generator runs on the last core and Coffer on the others. On a shared core, more load would mean less capacity.
	@last=$$(($$(nproc) - 1)); taskset -c 0-$$((last > 0 ? last - 1 : 0)) \
		go run ./test/cmd/bench -overload="taskset -c $$last $(BIN)/vegeta" $(LOADFLAGS)

.PHONY: test-modules
# `make test` vets all packages in the versions of the workspace. With other versions in its go.mod, a module alone would be another program.
test-modules: ## Check that each module lists the modules it imports, in the versions of the workspace (if not: go work sync, make tidy)
	@mkdir -p .cache && $(VERSIONS) work >.cache/versions
	@$(WITHOUT_WORKSPACE) GOWORK=off $(VERSIONS) ./... >$(CURDIR)/.cache/versions-alone || exit 1; \
		! sort -u $(CURDIR)/.cache/versions-alone | grep -vxFf $(CURDIR)/.cache/versions || exit 1; done

.PHONY: lint
ifdef MODULE
lint: $(BIN)/golangci-lint
	cd $(MODULE) && GOWORK=off $(BIN)/golangci-lint run ./...
	GOWORK=off go -C $(MODULE) mod tidy -diff
else
lint: $(BIN)/golangci-lint tools/buf/node_modules/.installed protos licenses lint-workflows ## Check the code, the protos, the workflows, the go.mod files, the licenses and the language; needs npm (MODULE=services/ledger: only that module, without npm)
	$(BIN)/golangci-lint run $$(go list -m -f '{{.Dir}}/...')
	@GOWORK=off go -C tools/prose run . $(CURDIR)
	@git ls-files '*.go' | grep -v -e '_test\.go$$' -e /gen/ | xargs -n 1 dirname | sort | uniq -c | \
		awk '$$1 > 16 {print "a package must have at most 16 files without tests: " $$0; bad = 1} END {exit bad}'
	$(BUF) lint
	$(BUF) format -d --exit-code proto
	@for dir in $(APART); do (cd $$dir && GOWORK=off $(BIN)/golangci-lint run ./...) || exit 1; done
	@for dir in $$(go list -m -f '{{.Dir}}') $(TOOLS); do GOWORK=off go -C $$dir mod tidy -diff || exit 1; done
endif

.PHONY: licenses
licenses: $(BIN)/go-licenses # Checks the modules linked into the programs. MPL-2.0 only has conditions for changes of its files.
	$(BIN)/go-licenses check --logtostderr=false --stderrthreshold=ERROR --log_file=/dev/null --ignore github.com/coffer-budget \
		--allowed_licenses=Apache-2.0,BSD-2-Clause,BSD-3-Clause,ISC,MIT,MPL-2.0 \
		$(foreach s,$(SERVICES),./$(or $(wildcard services/$s),$s)/cmd/$s) ./services/ocr/cmd/ocr-neural ./devstack/cmd/coffer

.PHONY: vulns
vulns: $(BIN)/govulncheck ## Look up known vulnerabilities of the called code on vuln.go.dev
	@$(WITHOUT_WORKSPACE) GOWORK=off $(BIN)/govulncheck ./... || exit 1; done

.PHONY: lint-workflows
lint-workflows: $(BIN)/actionlint ## Check the workflows
	$(BIN)/actionlint

.PHONY: prose
prose: ## List lines of comments and documents with idioms to avoid (CONTRIBUTING.md, Language)
	@GOWORK=off go -C tools/prose run . -v $(CURDIR)

.PHONY: lint-commits
lint-commits: ## Check the subjects of the commits since BASE: package: imperative, at most 72 characters (BASE=origin/main)
	@git log --no-merges --format=%s $(or $(BASE),origin/main)..HEAD | \
		awk 'length > 72 || !/^[a-z0-9.\/_-]+(, [a-z0-9.\/_-]+)*: / {print "not \"package: imperative\" in 72 characters: " $$0; bad = 1} END {exit bad}'

.PHONY: fmt
fmt: $(BIN)/golangci-lint tools/buf/node_modules/.installed protos ## Format the code and the protos; needs npm
	$(BIN)/golangci-lint fmt $$(go list -m -f '{{.Dir}}')
	$(BUF) format -w proto

.PHONY: generate
generate: $(BIN)/oapi-codegen protos ## Generate Go, the OpenAPI document, docs/errors.md and the Go client from the protos
	@# The other plugins are built with the generated Go code of the options, so that comes first.
	@GOWORK=off GOBIN=$(BIN) tools/progress.sh "the generators" go -C tools/generate install ./generate-protos google.golang.org/protobuf/cmd/protoc-gen-go
	@$(BIN)/generate-protos $(BIN) protoc-gen-go
	@GOWORK=off GOBIN=$(BIN) tools/progress.sh "the generators" go -C tools/generate install tool
	$(BIN)/generate-protos $(BIN)
	cd clients/go && $(BIN)/oapi-codegen -config oapi-codegen.yaml ../../gateway/openapi.json

.PHONY: examples
examples: ## Record the examples of the OpenAPI document on a stack, and generate the document
	@$(WITH_POSTGRES)
	$(BIN)/with-postgres go test -count=1 -run '^TestExamples$$' ./test -update
	@$(MAKE) --no-print-directory generate

.PHONY: generate-check
generate-check: ## Fail if the committed generated files are outdated
	@rm -rf .cache/before && mkdir -p .cache/before && cp -R proto gateway clients docs/errors.md .cache/before/
	@$(MAKE) --no-print-directory generate
	@diff -ru .cache/before/proto proto && diff -ru .cache/before/gateway gateway && diff -ru -x node_modules .cache/before/clients clients && diff -u .cache/before/errors.md docs/errors.md

.PHONY: breaking
breaking: tools/buf/node_modules/.installed $(BIN)/oasdiff protos ## Fail if protos or REST API break the clients of another commit; needs npm (BASE=origin/main)
	@rm -rf .cache/base && mkdir -p .cache/base/.cache
	@git archive $(or $(BASE),HEAD) buf.yaml proto gateway/openapi.json | tar -x -C .cache/base && cp -R .cache/proto .cache/base/.cache/
	$(BUF) breaking --against .cache/base
	$(BIN)/oasdiff breaking --fail-on ERR --err-ignore gateway/allowed-breaks.txt .cache/base/gateway/openapi.json gateway/openapi.json

.PHONY: clients-check
clients-check: $(BIN)/oapi-codegen clients/typescript/node_modules/.installed ## Lint the OpenAPI document, and check the types of the generated clients; needs Node and npm
	@# The code with oapi-codegen's default names compiles only inside the Go client's module, which has its dependencies.
	@mkdir -p clients/go/defaults && trap 'rm -r clients/go/defaults' EXIT && \
		$(BIN)/oapi-codegen -package defaults -generate types,client -o clients/go/defaults/client.go gateway/openapi.json && go vet ./clients/go/defaults
	npm --prefix clients/typescript run lint
	npm --prefix clients/typescript run generate
	npm --prefix clients/typescript run build

.PHONY: clients
clients: clients-check ## Check the clients as clients-check does, and run their examples on a stack
	@devstack/install.sh
	@$(WITH_POSTGRES)
	$(BIN)/with-postgres go test -count=1 -run Client ./test

.PHONY: web
web: web/node_modules/.installed ## Build the web console into web/dist; needs Node and npm
	npm --prefix web run build

.PHONY: web-dev
web-dev: web/node_modules/.installed ## Serve the web console with hot reload against a running stack (COFFER_URL=http://localhost:8080)
	npm --prefix web run dev

.PHONY: web-check
web-check: web/node_modules/.installed ## Check the types and components of the web console, and fail if web/dist is outdated
	npm --prefix web run check
	npm --prefix web run build
	@changes=$$(git status --porcelain web/dist); [ -z "$$changes" ] || { echo "web/dist is outdated: run make web and commit it"; echo "$$changes"; exit 1; }

.PHONY: web-test
web-test: web/node_modules/.installed ## Test the web console in Chromium against a temporary stack (WEBTESTFLAGS=budgets: those files only)
	@devstack/install.sh web
	npm --prefix web run build
	npm --prefix web test -- $(WEBTESTFLAGS)

.PHONY: web-screenshots
web-screenshots: web/node_modules/.installed ## Take screenshots of each screen with the demo account of the running Coffer (OUT=folder, LOCALE=de-DE)
	@devstack/install.sh web
	OUT="$(OUT)" LOCALE="$(LOCALE)" node --test --test-concurrency=1 web/test/screenshots.js

.PHONY: bench-web
bench-web: web/node_modules/.installed web/bench/node_modules/.installed ## Measure the web console: Lighthouse, Home on a slow phone, scrolling (ROWS=100000)
	@devstack/install.sh web
	ROWS="$(ROWS)" node web/bench/bench.js

.PHONY: bench-web-table
bench-web-table: web/node_modules/.installed ## Measure the table of transactions on a slow desktop: frames of a scroll through all rows (ROWS=100000)
	@devstack/install.sh web
	ROWS="$(ROWS)" node web/bench/table.js

.PHONY: bench-web-import
bench-web-import: web/node_modules/.installed ## Measure an import in the web console from upload to undo: time, frames, memory (ROWS=10000: fewer)
	@devstack/install.sh web
	ROWS="$(ROWS)" node web/bench/import.js

%/node_modules/.installed: %/package-lock.json
	npm --prefix $* ci --no-fund --no-audit
	@touch $@

.PHONY: protos
protos: .cache/proto/google/rpc/code.proto
.cache/proto/google/rpc/code.proto:
	@mkdir -p $(@D) .cache/proto/google/api
	@from=$$(GOWORK=off go mod download -json $(PROTOS) | sed -n 's/.*"Dir": "\(.*\)",*/\1/p') && \
		install -m 644 $$from/third_party/googleapis/google/api/annotations.proto $$from/third_party/googleapis/google/api/http.proto .cache/proto/google/api && \
		install -m 644 $$from/third_party/googleapis/google/rpc/code.proto $(@D)

.PHONY: tidy
tidy: ## Run go mod tidy in every module
	@for dir in $$(go list -m -f '{{.Dir}}') $(TOOLS); do GOWORK=off go -C $$dir mod tidy || exit 1; done

.PHONY: build
build: ## Build the services' programs into .bin/
	CGO_ENABLED=0 go build -trimpath -o $(BIN)/ ./services/.../cmd/... ./gateway/cmd/...

.PHONY: images
images: ## Build the container images into .cache/images/, without a container engine (SERVICES=ledger: that one only; VERSION=1.2.3)
	GOWORK=off GOBIN=$(BIN) go -C tools/images install .
	$(BIN)/images .cache/images $(or $(VERSION),dev) $(SERVICES)

.PHONY: images-check
images-check: ## Build images twice, in two folders with empty caches, and compare them (SERVICES=ledger; by default auth)
	tools/images/check.sh $(if $(filter command line,$(origin SERVICES)),$(SERVICES),auth)

.PHONY: images-docker
images-docker: ## Build the container images from deploy/Dockerfile, with docker, podman or buildah
	@engine=$$(command -v docker || command -v podman || command -v buildah) || { echo "make images-docker needs docker, podman or buildah" >&2; exit 1; }; \
	for service in $(SERVICES); do \
		target=service; [ $$service = ocr ] && target=ocr; \
		$$engine build -f deploy/Dockerfile --target $$target --build-arg SERVICE=$$service --build-arg VERSION=$(or $(VERSION),dev) -t coffer/$$service:$(or $(VERSION),dev) . || exit 1; \
	done

.PHONY: k8s-check
k8s-check: ## Render the Kubernetes manifests and check them against types and policies, without a cluster
	GOWORK=off go -C deploy/k8s vet ./...
	GOWORK=off go -C deploy/k8s test ./...
	GOWORK=off go -C tools/images test ./...

.PHONY: k8s-test
k8s-test: ## Apply the dev overlay to kubectl's cluster and test it there (BASE_URL: the URL of its gateway; COLLECTOR=skip)
	deploy/k8s/test.sh

.PHONY: telemetry-check
telemetry-check: ## Trigger each alert on a running stack, and check that rules and dashboard use existing metrics
	@devstack/install.sh
	GOWORK=off go -C deploy/telemetry vet ./...
	GOWORK=off go -C deploy/telemetry test -timeout=30m ./...

.PHONY: grpcurl
grpcurl: $(BIN)/grpcurl ## Put grpcurl into .bin/

.PHONY: check
check: lint generate-check test-modules clients-check web-check k8s-check telemetry-check test web-test ## Run the checks that every change must pass; CI runs more

# Each tool has a separate module, so that its dependencies do not raise the versions of the services' dependencies. That of grpcurl
# requires the services' versions of gRPC and protobuf, so that `make grpcurl` reuses the packages that `make run` has compiled.
#
# A tool is compiled once per machine: its file in TOOL_CACHE has the checksum of its module in the path, and .bin/ has a link to it. The
# link is renewed each time, because times of files say nothing after a checkout.
TOOL_CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/coffer/tools
define TOOL
$(BIN)/$(1): $(TOOL_CACHE)/$(2)-$(firstword $(shell cat tools/$(2)/go.mod tools/$(2)/go.sum | cksum))/$(1) FORCE
	@mkdir -p $(BIN) && ln -sfn $$< $$@
$(TOOL_CACHE)/$(2)-%/$(1):
	@GOWORK=off GOBIN=$$(@D) tools/progress.sh $(1) go -C tools/$(2) install tool
endef
$(eval $(call TOOL,golangci-lint,lint))
$(eval $(call TOOL,grpcurl,grpcurl))
$(eval $(call TOOL,actionlint,actionlint))
$(eval $(call TOOL,go-licenses,licenses))
$(eval $(call TOOL,oapi-codegen,oapi-codegen))
$(eval $(call TOOL,oasdiff,oasdiff))
$(eval $(call TOOL,benchstat,benchstat))
$(eval $(call TOOL,vegeta,vegeta))
$(eval $(call TOOL,versitygw,versitygw))
$(eval $(call TOOL,govulncheck,vulns))

.PHONY: FORCE
FORCE:
