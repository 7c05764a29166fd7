#!/bin/sh
# A validator: a service that checks what a schema cannot express, and posts the results. It checks that no two hosts of
# a site have the same address, and that each address is in one of the site's networks. docs/validator.md explains it.
#   PURSER_URL     http://127.0.0.1:9000 by default
#   PURSER_CURLRC  a file with curl options, such as header = "X-Auth-Token: …"
#   INTERVAL       seconds to pause if the server or a check fails; 10 by default
set -eu
if [ $# -gt 0 ]; then
  echo "usage: PURSER_URL=http://127.0.0.1:9000 examples/validator.sh" >&2
  exit 2
fi

api=${PURSER_URL:-http://127.0.0.1:9000}/api/v1.0
validation=acme-address-validation
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# call ARGUMENT...: runs curl, which fails and prints the answer for every status from 400 on.
call() {
  curl -sS --fail-with-body --max-time 60 ${PURSER_CURLRC:+--config "$PURSER_CURLRC"} "$@"
}

# register declares the documents that this validator reads. If nothing has changed, this creates no revision.
register() {
  call -o /dev/null -H 'Content-Type: application/x-yaml' -T - "$api/buckets/acme-address-validator/documents" <<'SCHEMA'
schema: deckhand/DataSchema/v1
metadata: {schema: metadata/Control/v1, name: acme/Network/v1}
data:
  type: object
  properties:
    prefix: {type: string, pattern: '^\d+\.\d+\.\d+\.$'}
  required: [prefix]
  additionalProperties: false
SCHEMA
}

# values SCHEMA KEY: prints a line "value layer name" for each rendered document of a schema. The server always writes
# YAML in the same form, so a shell script can read its lines; a service would parse it.
values() {
  call "$documents?schema=$1" >"$scratch/documents" || return
  awk -v key="  $2:" '
    index($0, key) == 1 { value = $2 }
    index($0, "    layer:") == 1 { layer = $2 }
    index($0, "  name:") == 1 { name = $2 }
    index($0, "status:") == 1 { print value, layer, name }' "$scratch/documents" # the last key of a document
}

# check writes a line "- {message: …, documents: …}" for each mistake to $scratch/errors.
check() {
  values acme/Network/v1 prefix >"$scratch/networks" && values acme/Host/v1 address >"$scratch/hosts" || return
  awk '
    function mistake(message) {
      printf "- {message: \"%s\", documents: [{schema: acme/Host/v1, layer: \"%s\", name: \"%s\"}]}\n", message, $2, $3
    }
    FILENAME == ARGV[1] { networks[$1]; next }
    {
      if ($1 in owner) mistake($1 " is the address of " owner[$1] " too")
      owner[$1] = $3
      prefix = $1; sub(/[0-9]+$/, "", prefix)
      if (!(prefix in networks)) mistake($1 " is in no network")
    }' "$scratch/networks" "$scratch/hosts" >"$scratch/errors"
}

# post posts the errors of a check, which ends the claim.
post() {
  status=success
  if [ -s "$scratch/errors" ]; then status=failure; fi
  {
    printf 'status: %s\nvalidator: {name: acme-address-validator, version: 1.0.0}\nerrors:\n' "$status"
    cat "$scratch/errors"
  } | call -o /dev/null -X POST -H 'Content-Type: application/x-yaml' --data-binary @- "$result"
  echo "revision $id: $status"
}

# work does the work of a claim. A revision that cannot be rendered has no addresses to check, so it fails.
work() {
  if ! check; then
    grep -q '^code: 40[09]' "$scratch/documents" || return
    echo '- {message: The documents cannot be rendered}' >"$scratch/errors"
  fi
  post
}

register
worker=$(hostname):$$
while :; do
  if call -X POST -H 'Content-Type: application/x-yaml' -d "{validations: [$validation], worker: '$worker'}" \
    "$api/claims?wait=50s" >"$scratch/claim"; then
    if [ ! -s "$scratch/claim" ]; then continue; fi # there was no work
    id=$(sed -n 's/^revision: //p' "$scratch/claim")
    documents=$(sed -n 's/^documents: //p' "$scratch/claim")
    result=$(sed -n 's/^result: //p' "$scratch/claim")
    if work; then continue; fi
    call -X DELETE "$api/claims/$(sed -n 's/^id: //p' "$scratch/claim")" || true # gives it back, to be done again
  fi
  sleep "${INTERVAL:-10}"
done
