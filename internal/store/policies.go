package store

import (
	"bytes"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Every verdict and every change needs the policies, which rarely change. They are selected without their contents;
// contents are read only of policies that are not cached.
// policyKey identifies a parsed policy: a document, and the digest of its content.
type policyKey struct {
	document.Identity

	content document.Digest
}

// policyRow is a policy before it is parsed.
type policyRow struct {
	revisions.PolicyVersion

	key policyKey
}

func scanPolicy(row pgx.CollectableRow) (p policyRow, err error) {
	id := &p.key.Identity
	err = row.Scan(&p.Place, &p.Since, &p.Until, &id.Schema, &id.Layer, &id.Name, intoDigest(&p.key.content))
	return p, err
}

// parsePolicies returns policies. It reads the contents of uncached ones.
func (s *Store) parsePolicies(ctx context.Context, rows []policyRow) (policies []revisions.PolicyVersion, err error) {
	return s.parsedFrom(rows, func(digests []document.Digest) (map[document.Digest][]byte, error) {
		return s.readContents(ctx, reserved, digests)
	})
}

// parsedFrom is parsePolicies with a function that reads contents.
func (s *Store) parsedFrom(rows []policyRow,
	read func([]document.Digest) (map[document.Digest][]byte, error),
) (policies []revisions.PolicyVersion, err error) {
	var unknown []document.Digest
	for _, row := range rows {
		version := row.PolicyVersion
		var known bool
		if version.Policy, known = s.policies.Get(row.key); !known {
			unknown = append(unknown, row.key.content)
		}
		policies = append(policies, version)
	}
	texts := map[document.Digest][]byte{}
	if len(unknown) > 0 {
		if texts, err = read(unknown); err != nil {
			return nil, err
		}
	}
	for i, row := range rows {
		if text, read := texts[row.key.content]; read {
			const perByte, overhead = 4, 1024 // of a policy in memory: a requirement of 20 bytes takes 70
			policies[i].Policy = validations.ParsePolicy(row.key.Identity, text)
			s.policies.Add(row.key, policies[i].Policy, overhead+perByte*len(text))
		}
	}
	if len(texts) < len(slices.Compact(slices.SortedFunc(slices.Values(unknown), compareDigests))) {
		return nil,
			Unavailable("A policy was deleted while it was being read; nothing was stored, send the request again")
	}
	return policies, nil
}

func compareDigests(a, b document.Digest) int { return bytes.Compare(a[:], b[:]) }
