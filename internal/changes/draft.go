package changes

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/judging"
	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/validations"
)

// Draft is the outcome of judging documents as a complete site.
type Draft struct {
	Written // as of a dry run; all of the server's own validations count, the optional ones if a policy lists them

	Policies []validations.Policy // among the documents
	Rendered *judging.Rendering   // nil if the documents do not render to valid ones
}

// Decode decodes items that are not decoded yet. It returns them with what is wrong with each, nil for those that are
// documents. Like Judge it needs no Store.
func (s *Service) Decode(ctx context.Context, items []Item) ([]Item, []error, error) {
	decoded, faults, err := s.decodeItems(ctx, items, false)
	if err != nil {
		return nil, nil, err
	}
	errs := make([]error, len(items))
	for i := range decoded {
		errs[i] = firstFault(decoded[i:i+1], faults[i:i+1], s.Compat)
	}
	return decoded, errs, nil
}

// Collision is a pair of items that cannot be in one site: they have the same identity, or both are LayeringPolicies.
type Collision struct {
	Item, With int // positions; the second comes first
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
			err := checkSingleton([]*revisions.Stored{doc}, []*revisions.Stored{{Document: items[policy].Document}})
			collisions = append(collisions, Collision{i, policy, err})
			continue
		}
		first[doc.Identity] = i
	}
	return collisions
}

// Judge judges decoded items, none of which collides with another, as a dry run of a change does that makes them a site
// of their own. If they are not whole, because others could not be decoded, only single documents are judged. Errors
// are those of the budget.
func (s *Service) Judge(ctx context.Context, items []Item, whole bool, viewer authz.Viewer) (Draft, error) {
	options := revisions.Options{DryRun: true, Viewer: viewer}
	buckets := make([]string, len(items))
	for i, item := range items {
		buckets[i] = item.Bucket
	}
	payload, snapshot := Payload{Items: items, Buckets: revisions.Missing(buckets, nil)}, revisions.Snapshot{Now: s.Now()}
	for _, bucket := range payload.Buckets {
		snapshot.Buckets = append(snapshot.Buckets, revisions.NewBucket(bucket, 0, 0, nil))
	}
	diff, err := payload.plan(snapshot, s.Compat)
	if err != nil {
		return Draft{}, err
	}
	judge := s.newJudge(options)
	if judge.Always = []string{}; whole {
		judge.Always = judging.RevisionValidations()
	}
	judgement, err := judge.Judge(ctx, snapshot, diff)
	if err != nil {
		return Draft{}, err
	}
	draft := Draft{Policies: judgement.Policies, Rendered: judgement.Rendered}
	weighing := s.Config
	weighing.DefaultValidations = validations.Own()
	listed := validations.Required(judgement.Policies)
	for _, name := range validations.Optional() {
		if slices.Contains(listed, name) {
			weighing.DefaultValidations = append(weighing.DefaultValidations, name)
		}
	}
	if viewer.Encrypted {
		judgement.Results = withoutValues(judgement.Results, viewer.Withheld())
	}
	judgement.Policies = nil // what they require of others is not known here
	draft.Written, err = NewService(weighing).preview(ctx, snapshot, diff, judgement, revisions.ChangeSet, options)
	draft.Items = items
	return draft, err
}

// withoutValues returns results for viewers who may see all of encrypted documents except their data, with a text in
// place of messages that depend on it. Only the findings of schemas and of overrides show data: what rendering refuses
// names documents and paths (see the package). Whether the path of a finding of a schema is in what came from a secret,
// or in a schema that did, is for the caller to find out; that of a finding of an override names resources, and is left
// out.
func withoutValues(results []judging.RevisionResult, withheld string) []judging.RevisionResult {
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

// Unkept is a Vault for documents that are judged but not stored.
type Unkept struct{}

// Digest implements Vault.
func (Unkept) Digest(place secrets.Place, content []byte) document.Digest {
	return sha256.Sum256(append([]byte(place.String()+"\x00"), content...))
}

var errUnkept = errors.New("documents that are not stored are not sealed")

// Seal implements secrets.Sealer.
func (Unkept) Seal(context.Context, secrets.Place, []byte) ([]byte, error) { return nil, errUnkept }

// Open implements secrets.Sealer.
func (Unkept) Open(context.Context, secrets.Place, []byte) ([]byte, error) { return nil, errUnkept }

// Reseal implements Vault.
func (Unkept) Reseal(context.Context, secrets.Place, []byte) ([]byte, error) { return nil, errUnkept }

// Forget implements secrets.Sealer.
func (Unkept) Forget(context.Context, []byte) error { return errUnkept }

// Prefix implements Vault.
func (Unkept) Prefix(context.Context) []byte { return nil }
