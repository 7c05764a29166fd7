package changes

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"slices"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/validations"
)

// Draft is the outcome of judging documents as a complete site.
type Draft struct {
	Written // as of a dry run; all of the server's validations count, optional ones only if a policy lists them

	Policies []validations.Policy // among the documents, as in validations.Applied
	Rendered *Rendering           // nil unless the documents render to valid ones
}

// Decode decodes the items that are not decoded yet. It returns all items and, for each, its fault or nil. Like
// CheckOffline it needs no Store.
func (s *Service) Decode(ctx context.Context, items []Item) ([]Item, []error, error) {
	decoded, faults, err := s.decodeItems(ctx, items, false, math.MaxInt)
	if err != nil {
		return nil, nil, err
	}
	errs := make([]error, len(items))
	for i := range decoded {
		if errs[i] = firstFault(decoded[i:i+1], faults[i:i+1], s.Compat); faults[i].invalid != "" {
			errs[i] = &NotDocument{faults[i].invalid, removeEntry(items[i].Segment.Media())}
		}
	}
	return decoded, errs, nil
}

// NotDocument is the error of Decode for an item that is not a mapping.
type NotDocument struct {
	Is     string // such as "a list"
	Advice string
}

// Error implements error.
func (n *NotDocument) Error() string { return "The document is " + n.Is }

// IsEmpty reports whether the item has no value, such as after --- at the end of a file.
func (n *NotDocument) IsEmpty() bool { return n.Is == emptyEntry }

// Collision is a pair of items that cannot be in one site: they have the same identity, or both are LayeringPolicies.
type Collision struct {
	Item, With int // positions; With is the earlier one
	Fault      error
}

// Collisions returns the items that collide with earlier ones. All items must be decoded.
func Collisions(items []Item) (collisions []Collision) {
	first, policy := make(map[document.Identity]int, len(items)), -1
	for i, item := range items {
		doc := &revisions.Stored{Document: item.Document}
		with, twice := first[doc.Identity]
		switch {
		case twice:
			err := duplicate(doc.Identity, items[with].Bucket, "Remove one of them.")
			collisions = append(collisions, Collision{i, with, err})
			continue
		case !doc.IsLayeringPolicy():
		case policy < 0:
			policy = i
		default:
			err := Payload{}.checkSingleton([]*revisions.Stored{doc}, []*revisions.Stored{{Document: items[policy].Document}})
			collisions = append(collisions, Collision{i, policy, err})
			continue
		}
		first[doc.Identity] = i
	}
	return collisions
}

// CheckOffline judges decoded items without collisions like a dry run of a change that creates a site from them. If
// whole is false, because other items could not be decoded, it judges only single documents. Errors are those of the
// budget.
func (s *Service) CheckOffline(ctx context.Context, items []Item, whole bool, viewer authz.Viewer) (Draft, error) {
	p := proposal{
		kind: revisions.ChangeSet, options: revisions.Options{DryRun: true, Viewer: viewer},
		snapshot: revisions.Snapshot{Now: s.Now()},
	}
	buckets := make([]string, len(items))
	for i, item := range items {
		buckets[i] = item.Bucket
	}
	payload := Payload{Items: items, Buckets: revisions.Missing(buckets, nil)}
	for _, bucket := range payload.Buckets {
		p.snapshot.Buckets = append(p.snapshot.Buckets, revisions.NewBucket(bucket, 0, 0, nil))
	}
	var err error
	if p.diff, err = payload.plan(p.snapshot, s.Compat); err != nil {
		return Draft{}, err
	}
	validator := s.newValidator(p.options)
	if validator.Always = []string{}; whole {
		validator.Always = RevisionValidations()
	}
	if p.judgement, err = validator.Validate(ctx, p.snapshot, p.diff); err != nil {
		return Draft{}, err
	}
	draft := Draft{Rendered: p.judgement.Rendered}
	draft.Policies = validations.Applied(p.judgement.Policies, p.judgement.Inapplicable)
	counting := Service{Config: s.Config}
	counting.DefaultValidations = validations.DefaultValidations()
	for _, name := range validations.Optional() {
		if failsBy(draft.Policies, name) {
			counting.DefaultValidations = append(counting.DefaultValidations, name)
		}
	}
	if viewer.Encrypted {
		p.judgement.Results = withoutValues(p.judgement.Results, viewer.Withheld())
	}
	// Policies may require validations by others, whose results are unknown here.
	p.judgement.Policies, p.judgement.Inapplicable = nil, nil
	draft.Written, err = counting.preview(ctx, p)
	if draft.Preview != nil && !whole {
		draft.Preview.Uncovered = nil // the schemas may be among the others
	}
	draft.Items = items
	return draft, err
}

// failsBy reports whether a revision fails by its policies if a validation fails.
func failsBy(policies []validations.Policy, name string) bool {
	return slices.ContainsFunc(policies, func(policy validations.Policy) bool {
		return slices.ContainsFunc(policy.Requirements, func(r validations.Requirement) bool {
			return r.Name == name && !r.Inapplicable && !r.Advisory
		})
	})
}

// withoutValues returns results for viewers who may see everything in encrypted documents except their data, with
// withheld in place of messages that depend on it. Only findings of schemas and of overrides quote data; rendering
// faults name documents and paths (see package rendering). The path of an override finding names resources and is left
// out. The caller must check whether the path of a schema finding lies in data, or in a schema, that came from a
// secret.
func withoutValues(results []RevisionResult, withheld string) []RevisionResult {
	shown := slices.Clone(results)
	for i := range shown {
		shown[i].Messages, shown[i].Warnings = slices.Clone(shown[i].Messages), slices.Clone(shown[i].Warnings)
		for _, list := range [][]fault.Message{shown[i].Messages, shown[i].Warnings} {
			for j := range list {
				found, ofSchema := list[j].Diagnostic.(map[string]any)
				switch {
				case !list[j].Secret:
				case ofSchema:
					list[j].Message, list[j].Diagnostic = withheld, map[string]any{"schema_path": found["schema_path"]}
				case shown[i].Name == validations.PuppetValidation:
					list[j].Message, list[j].Path = withheld, ""
				}
				list[j].Secret = false
			}
		}
	}
	return shown
}

// DiscardVault is a Vault for documents that are judged but not stored.
type DiscardVault struct{}

// Digest implements Vault.
func (DiscardVault) Digest(place secrets.Place, content []byte) document.Digest {
	return sha256.Sum256(append([]byte(place.String()+"\x00"), content...))
}

var errNotSealed = errors.New("documents that are not stored are not sealed")

// Seal implements secrets.Sealer.
func (DiscardVault) Seal(context.Context, secrets.Place, []byte) ([]byte, error) {
	return nil, errNotSealed
}

// Open implements secrets.Sealer.
func (DiscardVault) Open(context.Context, secrets.Place, []byte) ([]byte, error) {
	return nil, errNotSealed
}

// Reseal implements Vault.
func (DiscardVault) Reseal(context.Context, secrets.Place, []byte) ([]byte, error) {
	return nil, errNotSealed
}

// Prefix implements Vault.
func (DiscardVault) Prefix(context.Context) []byte { return nil }
