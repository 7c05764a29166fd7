#!/bin/sh
# A validator: a service that checks what a schema cannot express, and posts the results. It checks that no two hosts of
# a site have the same address, and that each address is in one of the site's networks. docs/validator.md explains it.
#   PURSER_URL     http://127.0.0.1:9000 by default
#   PURSER_CURLRC  a file with curl options, such as header = "X-Auth-Token: …"
#   INTERVAL       seconds before revisions that could not be checked are tried again; 50 by default
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
  call "$api/revisions/$id/rendered-documents?schema=$1" >"$scratch/documents" || return
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

# post posts the result of check. If another revision has this number by now, the stamp makes the server answer 412.
post() {
  status=success
  if [ -s "$scratch/errors" ]; then status=failure; fi
  {
    printf 'status: %s\nvalidator: {name: acme-address-validator, version: 1.0.0}\nerrors:\n' "$status"
    cat "$scratch/errors"
  } | call -o /dev/null -X POST -H 'Content-Type: application/x-yaml' --data-binary @- \
    "$api/revisions/$id/validations/$validation?revision-stamp=$stamp"
  echo "revision $id: $status"
}

# look checks those of the newest ten revisions that are not checked yet. A revision that cannot be rendered needs no
# result, because the server says why. Other failures are tried again the next time.
look() {
  call "$api/revisions?sort=id&order=desc&limit=10" >"$scratch/revisions" || return
  sed -n 's/^..id: //p; s/^..stamp: //p' "$scratch/revisions" | paste - - | while read -r id stamp; do
    if grep -qx "$stamp" "$scratch/done"; then continue; fi
    if check && post; then
      echo "$stamp" >>"$scratch/done"
    elif grep -q '^code: 40[09]' "$scratch/documents"; then
      echo "revision $id cannot be rendered"
      echo "$stamp" >>"$scratch/done"
    fi
  done
}

# await CURSOR WAIT: waits for events after CURSOR, for at most WAIT seconds, and prints the cursor after them.
await() {
  call "$api/events?since=$1&type=purser.revision.created&wait=$2s" | sed -n "s/^cursor: '\(.*\)'$/\1/p"
}

register
: >"$scratch/done"
cursor=$(await now 0)
while :; do
  look || true
  cursor=$(await "$cursor" "${INTERVAL:-50}")
  if [ -z "$cursor" ]; then sleep 2; fi # the server did not answer
done
