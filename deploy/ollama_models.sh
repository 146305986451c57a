#!/bin/sh
# Prints a models file of Ollama's models: deploy/ollama_models.sh "llama3.2 qwen3:4b" | manage.py import_models /dev/stdin
# Names are parted by blanks or commas.
set -eu
for model in $(printf '%s' "$1" | tr ',' ' '); do
    id=$(printf '%s' "$model" | tr 'A-Z:/_' 'a-z---')
    printf -- '- {id: "%s-ollama", name: "%s (Ollama)", provider: Ollama, kind: ollama, model: "%s", ' "$id" "$model" "$model"
    printf 'base_url: "http://ollama:11434/v1", needs_key: false, deadlines: {first: 120}}\n'
done
