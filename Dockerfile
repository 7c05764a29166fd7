# The server alone: it needs a Postgres, named by PURSER_DATABASE_URL (compose.yaml brings one).
#   docker build --build-arg VERSION="$(git describe --tags --always)" -t purser .

# The toolchain is go.mod's, and the build is the Makefile's: the same binary as CI's.
FROM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
RUN make build VERSION="$VERSION"

# With Graphviz, which draws the graph of a revision, and a font for it. User 65532.
FROM debian:12-slim
RUN apt-get -qq update \
    && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends graphviz fonts-dejavu-core \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/bin/purser-server /usr/local/bin/purser-server
USER 65532:65532
ENV PURSER_LISTEN=0.0.0.0:9000
EXPOSE 9000
ENTRYPOINT ["/usr/local/bin/purser-server"]
