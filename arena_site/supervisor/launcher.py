"""Start, watch and stop an arena, stage by stage."""

import http.client
import json
import os
import select
import shutil
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena_site.embedded.directories import make_private, make_traversable, runtime_dir
from arena_site.embedded.local_model import LocalModel, free_port
from arena_site.embedded.postgres import VERSION, Postgres
from arena_site.embedded.program import CannotStart, Program
from arena_site.embedded.valkey import Valkey
from arena_site.settings.env import BASE_DIR
from arena_site.supervisor import leftovers
from arena_site.supervisor.child import Child
from arena_site.supervisor.forking import preload
from arena_site.supervisor.process_manager import ProcessManager, Stage
from arena_site.supervisor.service_file import ServiceFile
from arena_site.supervisor.site import Site
from arena_site.supervisor.terminal import SILENCE_S, announced_if_slow, echo

# The end of a child wakes the launcher at once.
CHECK_INTERVAL_S = 10.0
RETRY_INTERVAL_S = 0.2
HOW_TO_ADD_A_MODEL = (
    "Fewer than two models can be drawn, so no battle can start: add one to config/models.yaml or set a provider's "
    "key in .env and start again, or add one at {url}/admin/."
)


class StopRequested(Exception):
    """Raised on Ctrl-C, SIGTERM, or a closed terminal (SIGHUP)."""


class Launcher:
    def __init__(self, site: Site) -> None:
        self.site = site
        self.processes = ProcessManager(site.data_dir, site.logs)
        self._stop_requested = False
        self._signals, self._signals_sent = socket.socketpair()

    def run(self) -> None:
        """Run until a signal, then raise StopRequested. Raises CannotStart."""
        with self._locked_data_dir():
            self._check_port_is_free()
            self._start()
            while True:
                self.pause(CHECK_INTERVAL_S if self.processes.is_settled else RETRY_INTERVAL_S)
                self.processes.restart_exited()
                self.processes.rotate_logs()

    def restore(self, file: Path) -> None:
        """Restore a backup before a start prepares the database. Raises CannotStart and StopRequested."""
        if not file.is_file():
            raise CannotStart(f"There is no backup {file}: make restore FILE=arena.zip")
        with self._locked_data_dir():
            services = ServiceFile(self.site.data_dir)
            services.make_secrets()
            self._start_services(services, self._embedded_services(services), None)
            self._run_to_its_end(self.site.restore_program(file))

    def upgrade_database(self, programs: Path | None) -> None:
        """Load an older PostgreSQL's database into this version's. Raises CannotStart and StopRequested."""
        from arena_site.supervisor.postgres_upgrade import upgrade_database  # a start does without psycopg

        with self._locked_data_dir():
            upgrade_database(self.site.data_dir, self.site.logs, ServiceFile(self.site.data_dir), programs)

    @contextmanager
    def _locked_data_dir(self) -> Iterator[None]:
        """Stop all processes afterwards."""
        self.handle_signals()
        try:
            make_traversable(self.site.data_dir)
            make_private(self.site.logs)
            lock = leftovers.acquire_lock(self.site.data_dir)
        except PermissionError as error:
            raise CannotStart(
                f"The user {os.getuid()} cannot write to {error.filename}: give the folder or volume to this user "
                f"(as root: chown -R {os.getuid()} FOLDER), or use another one."
            ) from error
        try:
            if count := leftovers.stop_leftovers(self.site.data_dir):
                echo(f"Stopped {count} processes that an earlier start had left behind.")
            yield
        finally:
            self.processes.stop()
            shutil.rmtree(runtime_dir(self.site.data_dir), ignore_errors=True)
            lock.close()

    def handle_signals(self) -> None:
        for end in (self._signals, self._signals_sent):
            end.setblocking(False)
        signal.set_wakeup_fd(self._signals_sent.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._request_stop)

    def _request_stop(self, *_: object) -> None:
        self._stop_requested = True

    def pause(self, seconds: float) -> None:
        """Wait until a signal arrives, for `seconds` at most. Raises StopRequested."""
        if not self._stop_requested and select.select([self._signals], [], [], seconds)[0]:
            self._signals.recv(4096)
        if self._stop_requested:
            raise StopRequested

    def _check_port_is_free(self) -> None:
        family = socket.AF_INET6 if ":" in self.site.bind else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.site.bind, self.site.port))
            except OSError as error:
                raise CannotStart(
                    f"Port {self.site.port} on {self.site.bind} cannot be used ({error.strerror}): "
                    "choose another one with ARENA_PORT."
                ) from error

    def _start(self) -> None:
        services = ServiceFile(self.site.data_dir)
        services.make_secrets()
        embedded, model = self._embedded_services(services), self._local_model(services)
        with ThreadPoolExecutor(1) as thread:  # it ends before the first fork
            started = thread.submit(self._start_services, services, embedded, model)
            preload()
        started.result()
        self._prepare()
        for program in self.site.background_programs():
            self.processes.start(program, Stage.BACKGROUND)
        for program in self.site.web_programs():
            self.processes.start(program, Stage.WEB)
        readiness = self._wait_until_ready()
        echo(f"Arena ready: {self.site.url}")
        if readiness["drawable_models"] < 2:
            echo(HOW_TO_ADD_A_MODEL.format(url=self.site.url))

    def _embedded_services(self, services: ServiceFile) -> list[Postgres | Valkey]:
        """Return the services to start; publish their addresses, which the site's settings read."""
        sockets = runtime_dir(self.site.data_dir)
        embedded: dict[str, Postgres | Valkey] = {
            "DATABASE_URL": Postgres(
                self.site.data_dir / f"postgres-{VERSION}", sockets / "postgres", services["ARENA_POSTGRES_PASSWORD"]
            ),
            "REDIS_URL": Valkey(self.site.data_dir / "valkey", sockets / "valkey"),
        }
        for name in list(embedded):
            if services.is_set_by_operator(name):
                services.remove(name)
                echo(f"{name} is set: using your server.")
                del embedded[name]
            else:
                services.publish(name, embedded[name].url)
        return list(embedded.values())

    def _local_model(self, services: ServiceFile) -> LocalModel | None:
        if services.is_set_by_operator("ARENA_LOCAL_MODEL_URL") or not self.site.wants_local_model:
            services.remove("ARENA_LOCAL_MODEL_URL")
            return None
        model = LocalModel(free_port())
        services.publish("ARENA_LOCAL_MODEL_URL", model.url)
        return model

    def _start_services(
        self, services: ServiceFile, embedded: list[Postgres | Valkey], model: LocalModel | None
    ) -> None:
        started = [self.processes.start(service.prepare(), Stage.SERVICES) for service in embedded]
        for child in started:
            self._wait_for(child)
        if model is not None:
            self._start_local_model(services, model)

    def _start_local_model(self, services: ServiceFile, model: LocalModel) -> None:
        child = None
        try:
            child = self.processes.start(model.prepare(BASE_DIR), Stage.SERVICES)
            self._wait_for(child)
        except CannotStart as error:
            if child is not None:
                self.processes.terminate(child)
            services.remove("ARENA_LOCAL_MODEL_URL")
            echo(f"The site starts without the local model: {error}")

    def _prepare(self) -> None:
        """Run `manage.py prepare`: database, static files, models, first administrator."""
        child = self._run_to_its_end(self.site.prepare_program())
        echo(f"Site prepared in {child.uptime_s:.1f} s")

    def _run_to_its_end(self, program: Program) -> Child:
        """Raises CannotStart when it fails."""
        child = self.processes.start(program, Stage.BACKGROUND)
        while child.is_running:
            self.pause(0.02)
        self.processes.terminate(child)
        if child.process.returncode:
            raise CannotStart(child.exit_message())
        return child

    def _wait_for(self, child: Child) -> None:
        with announced_if_slow(f"{child.program.label} is starting …"):
            seconds = child.wait_until_ready(within=60, pause=self.pause)
        echo(f"{child.program.label} ready in {seconds:.1f} s")

    def _wait_until_ready(self) -> dict[str, Any]:
        """Return the body of /readyz. Raises CannotStart when a child exits."""
        has_warned = False
        waited = 0.0
        while not (readiness := self._readiness()).get("ready"):
            if child := self.processes.exited():
                raise CannotStart(child.exit_message())
            if waited > SILENCE_S and not has_warned:
                has_warned = True
                missing = [
                    f"{name}: {outcome}" for name, outcome in readiness.get("checks", {}).items() if outcome != "ok"
                ]
                echo(
                    f"The arena runs but is not ready yet ({', '.join(missing) or 'the web process does not answer'})."
                )
            self.pause(0.2)
            waited += 0.2
        return readiness

    def _readiness(self) -> dict[str, Any]:
        """Return the body of /readyz, or {} while it does not respond."""
        connection = http.client.HTTPConnection(self.site.address, self.site.port, timeout=10)
        # A production site accepts only its own host name, and redirects requests that did not come over HTTPS.
        headers = {"Host": self.site.host, "X-Forwarded-Proto": "https"}
        try:
            connection.request("GET", "/readyz", headers=headers)
            body = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            return {}
        finally:
            connection.close()
        return body if isinstance(body, dict) else {}
