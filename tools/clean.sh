#!/bin/bash
# Deletes what `make` installed and made, then the arena's data; asks before each. `.env` and config/ stay.
set -eu
cd "$(dirname "$0")/.."
data=${ARENA_DATA_DIR:-.arena}

# Answers are read from standard input; without one, nothing is deleted.
ask() {
    printf '%s ' "$1"
    read -r answer || answer=
    [ "$answer" = "$2" ] || { echo "Nothing was deleted."; return 1; }
}

made=()
for name in .venv .venv-audit .peers .mypy_cache .ruff_cache .pytest_cache .import_linter_cache screenshots \
    test-results sbom.cdx.json; do
    [ ! -e "$name" ] || made+=("$name")
done
if [ ${#made[@]} -gt 0 ]; then
    du -shc "${made[@]}"
    if ask "Delete these? [y/N]" y; then
        [ ! -x .venv/bin/python ] || .venv/bin/python -m arena_site.supervisor stop
        rm -rf "${made[@]}"
        find . -name __pycache__ -type d -prune -exec rm -rf {} +
    fi
fi
if [ -d "$data" ]; then
    ask "Delete all battles, votes, accounts, files and keys in $data? Type “delete”:" delete || exit 0
    if [ -x .venv/bin/python ]; then .venv/bin/python -m arena_site.supervisor stop; fi
    rm -rf "$data"
fi
