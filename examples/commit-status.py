#!/usr/bin/env python3
"""Receives purser.validation.posted, since a late failure leaves the verdict as it is, and purser.verdict.changed, since
results expire. Sets the status "purser" of the commit that the revision was made from.

  export PURSER_SERVER=https://purser.example PURSER_TOKEN=prs_… WEBHOOK_SECRET=whsec_… LISTEN=0.0.0.0:8080
  export REPOSITORY=https://github.com/acme/site STATUSES=https://api.github.com/repos/acme/site/statuses
  STATUS_TOKEN=… commit-status.py

At GitLab: REPOSITORY=https://git.example/acme/site STATUSES=https://git.example/api/v4/projects/acme%2Fsite/statuses
"""
import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

server, repository, statuses = (os.environ[of].rstrip("/") for of in ("PURSER_SERVER", "REPOSITORY", "STATUSES"))
key = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_")) or sys.exit("WEBHOOK_SECRET is empty")
is_gitlab = "/api/v4/" in statuses


def genuine(headers, body):
    """Verifies the signature of Standard Webhooks; there are several while a secret is replaced."""
    sent = headers.get("webhook-timestamp", "")
    signed = f"{headers.get('webhook-id', '')}.{sent}.".encode() + body
    made = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").encode().split()
    return re.fullmatch("[0-9]{1,12}", sent) and abs(time.time() - int(sent)) < 300 and any(
        hmac.compare_digest(signature, made) for signature in signatures)


def update(number):
    """Sets the status to the present verdict, not that of the event: events come late, twice and in any order."""
    revision = call(f"{server}/api/v1.0/revisions/{number:d}", {"X-Auth-Token": os.environ.get("PURSER_TOKEN", "")})
    commit = re.fullmatch(re.escape(repository) + "(?:/-)?/commit/([0-9a-f]{40})", revision.get("source") or "")
    if not commit:
        return  # it was made from no commit of the repository
    found = {v["status"] for policy in revision["validationPolicies"] for v in policy.get("validations", [])}
    if revision["status"] == "success":
        state = "success"
    elif found & {"missing", "expired"} and "failure" not in found:
        state = "pending"
    else:
        state = "failed" if is_gitlab else "failure"
    call(f"{statuses}/{commit[1]}", {"Authorization": "Bearer " + os.environ["STATUS_TOKEN"]}, {
        "state": state, "name" if is_gitlab else "context": "purser", "description": f"Revision {number}: {state}",
        "target_url": f"{server}/ui/revisions/{number}"})


def call(url, headers, body=None):
    data = json.dumps(body).encode() if body else None
    headers |= {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "commit-status"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=6) as answer:
        return json.load(answer)


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # of a slow sender, in seconds

    def do_POST(self):
        code, body = 204, self.rfile.read(max(0, min(int(self.headers.get("content-length", 0)), 1 << 20)))
        try:
            if not genuine(self.headers, body):
                code = 401
            elif (event := json.loads(body))["type"] in ("purser.validation.posted", "purser.verdict.changed"):
                update(event["data"]["revision"])
        except Exception as error:  # Purser sends the event again
            print("the status is not set:", error, file=sys.stderr)
            code = 502
        self.send_response(code)
        self.end_headers()


host, _, port = os.environ.get("LISTEN", "127.0.0.1:8080").rpartition(":")
HTTPServer((host, int(port)), Receiver).serve_forever()  # one by one, so that no verdict overtakes a later one
