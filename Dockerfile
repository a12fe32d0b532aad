# Penstock with its runtime only, and its console. Build: docker build -t penstock . Run: see docs/install.md.
FROM node:24-slim AS console
WORKDIR /console
COPY console ./
RUN npm ci --ignore-scripts && PENSTOCK_CONSOLE_OUT=/dist npm run build

FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements-runtime.lock ./
RUN python -m venv /opt/penstock \
 && /opt/penstock/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements-runtime.lock
COPY pyproject.toml README.md LICENSE ./
COPY tools/build_hook.py ./tools/build_hook.py
COPY src ./src
COPY --from=console /dist ./src/penstock/console/dist
RUN /opt/penstock/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation .

FROM python:3.13-slim
RUN useradd --system --uid 10001 --create-home penstock \
 && install --directory --owner penstock --mode 700 /data
COPY --from=build /opt/penstock /opt/penstock
ENV PATH=/opt/penstock/bin:$PATH \
    PENSTOCK_DATA_DIR=/data \
    PENSTOCK_API_HOST=0.0.0.0 \
    PENSTOCK_LOG_FORMAT=json
USER penstock
WORKDIR /home/penstock
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["penstock"]
CMD ["up"]
