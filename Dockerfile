# The studio, for web and worker alike: compose.yaml says which is which. docs/studio/deployment.md
# tells how to build and run it; tests/test_containers.py holds both files to the code.
ARG PYTHON=3.12
FROM python:${PYTHON}-slim AS build
ARG EXTRAS=web,models
# Which build of torch: a requirement, and the index it comes from where that is not pip's own.
ARG TORCH="torch>=2.4"
ARG TORCH_INDEX=""
# Weights trained for Fabula, under a licence of their own; empty leaves them out.
ARG WEIGHTS=./weights
RUN python -m venv /opt/fabula
ENV PATH=/opt/fabula/bin:$PATH
# Torch is most of the image and changes least: a layer of its own, without which `web` does.
RUN case ",$EXTRAS," in \
      *,models,*|*,train,*) \
        pip install --no-cache-dir ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$TORCH" ;; \
    esac
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY recipes recipes
COPY weights weights
COPY src src
RUN pip install --no-cache-dir ".[$EXTRAS]" $WEIGHTS

FROM python:${PYTHON}-slim
RUN groupadd --gid 10001 fabula \
 && useradd --uid 10001 --gid fabula --no-create-home --home-dir /data --shell /usr/sbin/nologin fabula \
 && install --directory --owner=fabula --group=fabula --mode=0700 /data
COPY --from=build /opt/fabula /opt/fabula
# The database (where it is a file), models and caches lie in /data; nothing else is written.
ENV PATH=/opt/fabula/bin:$PATH \
    FABULA_HOME=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001:10001
VOLUME ["/data"]
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
CMD ["fabula", "serve", "--host", "0.0.0.0", "--port", "8000"]
