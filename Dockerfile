# Only the server: it needs a Postgres at PURSER_DATABASE_URL (compose.yaml has one).
#   docker build --build-arg VERSION="$(git describe --tags --always)" -t purser .

# The toolchain of go.mod and the build of the Makefile give the same binary as CI.
FROM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
RUN make build VERSION="$VERSION"

# The image has Graphviz, which draws the graph of a revision, and a font for it, and the roots of public certificate
# authorities, for databases, token issuers and key management services. It runs as user 65532. A volume at
# /var/lib/purser, for a keyset, gets the owner and mode of that directory.
FROM debian:12-slim
RUN apt-get -qq update \
    && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        ca-certificates fonts-dejavu-core graphviz \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 65532 purser \
    && useradd --uid 65532 --gid purser --home-dir /var/lib/purser --no-create-home --shell /usr/sbin/nologin purser \
    && install -d -o purser -g purser -m 0700 /var/lib/purser
COPY --from=build /src/bin/purser-server /usr/local/bin/purser-server
USER 65532:65532
ENV PURSER_LISTEN=0.0.0.0:9000
EXPOSE 9000
ENTRYPOINT ["/usr/local/bin/purser-server"]
