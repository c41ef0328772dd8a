#!/usr/bin/env bash
# Other clients, in a virtual environment of their own (build/peers), measured beside ours against
# the same server of known timing. Arguments go to peers.py: --streams 1 64 256 --repeats 3
#
# GuideLLM and llama-benchy declare torch and transformers, gigabytes that their HTTP clients do not
# import; so both are installed without what they depend on, and what the clients do import by name.
set -eu
cd "$(dirname "$0")/.."
venv=build/peers
if [ ! -f "$venv/.installed" ]; then
  python3 -m venv "$venv"
  pip() { "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"; }
  pip --no-deps guidellm==0.8.1 llama-benchy==0.4.0
  pip aiohttp 'httpx[http2]<1' uvloop numpy pydantic pydantic-settings 'click~=8.4' 'culsans~=0.10' \
    jinja2 loguru more-itertools msgpack pyyaml rich typing-extensions websockets
  if "$venv/bin/python" -c 'import torch' 2>/dev/null; then
    echo "torch came in with one of the peers; remove $venv and look which" >&2
    exit 1
  fi
  touch "$venv/.installed"
fi
exec .venv/bin/python benchmarks/peers.py "$@"
