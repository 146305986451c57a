# Read before each snippet: programs that need another machine are replaced by the part of them that runs here.
# A line for descriptor 9 says which command did not run as it stands, and why.

skip() { echo "skipped|$1|$2" >&9; }
instead() { echo "instead|$1|$2" >&9; }

docker() {
    case "$*" in
        "compose exec ollama "*) skip "docker $*" "needs Ollama's container" ;;
        "compose exec "* | "compose run "*) in_container "${@:2}" ;;
        compose*) compose_files "docker $*" ;;
        *) skip "docker $*" "needs Docker and a registry" ;;
    esac
}

# The command of a container, in the arena that runs here; `prepare` with an empty database.
in_container() {
    local verb=$1 service
    shift
    while [[ $1 == -* ]]; do shift; done
    service=$1
    shift
    instead "docker compose $verb $service $*" "in an arena of make up"
    (
        cd "$ARENA_TREE"
        export PATH="$ARENA_TREE/.venv/bin:$PATH"
        if [ "$service" = prepare ]; then
            export DATABASE_URL=$EMPTY_DATABASE_URL
        fi
        typed "$@"
    )
}

# Compose reads its files and .env without a container.
compose_files() {
    if command -v podman-compose >/dev/null; then
        instead "$1" "podman-compose config"
        podman-compose config >/dev/null
    else
        skip "$1" "needs Docker, or podman-compose to read the files"
    fi
}

kubectl() {
    case "$*" in
        "apply -k "*)
            instead "kubectl $*" "kubectl kustomize, and the schema of Kubernetes"
            "$BIN/kubectl" kustomize "$3" >"$SCRATCH/objects.yaml"
            "$BIN/kubernetes-validate" --quiet "$SCRATCH/objects.yaml"
            ;;
        *"create "*)
            instead "kubectl $*" "--dry-run=client"
            "$BIN/kubectl" "$@" --dry-run=client --output=yaml >/dev/null
            ;;
        *) skip "kubectl $*" "needs a cluster" ;;
    esac
}

helm() {
    case "$1" in
        install | upgrade)
            instead "helm $*" "helm's SDK renders the chart"
            "$BIN/python" - "$@" <<'PYTHON'
import argparse, helm_python, yaml
parser = argparse.ArgumentParser()
for name in ("verb", "release", "chart", "--namespace", "--values"):
    parser.add_argument(name)
parser.add_argument("--wait", action="store_true")
chosen = parser.parse_args()
with open(chosen.values) as file, helm_python.Chart.load(chosen.chart) as chart:
    chart.render(yaml.safe_load(file), name=chosen.release, namespace=chosen.namespace, revision=2)
PYTHON
            ;;
        *) skip "helm $*" "needs a cluster" ;;
    esac
}

make() {
    [ "$1" = up ] || { command make --silent "$@"; return; }
    command make --silent up >"$SCRATCH/up.log" 2>&1 &
    local address="http://127.0.0.1:$ARENA_PORT/readyz" tries=0 launcher=$!
    until curl --fail --silent --header 'X-Forwarded-Proto: https' --header "Host: ${ARENA_HOSTS:-localhost}" "$address" \
        >/dev/null; do
        sleep 1
        if ! kill -0 "$launcher" 2>/dev/null || [ $((tries += 1)) -gt "$START_TIMEOUT_S" ]; then
            cat "$SCRATCH/up.log"
            command make --silent stop
            return 1
        fi
    done
    command make --silent stop
    wait "$launcher"
}

manage.py() { "$BIN/python" manage.py "$@"; }

# createsuperuser asks in a terminal only.
typed() {
    case "$*" in
        *createsuperuser)
            DJANGO_SUPERUSER_EMAIL=admin@example.org DJANGO_SUPERUSER_PASSWORD=a-long-passphrase "$@" --noinput
            ;;
        *) "$@" ;;
    esac
}
