package budget

import (
	"context"
	"fmt"
)

// party is the owner of the work in a context.
type party struct {
	name string
	// joined is done once callers of different owners wait for the work; it then has a share of its own.
	joined context.Context //nolint:containedctx // a flag that work below inherits
}

type ownerKey struct{}

// WithOwner returns a context for the request of an owner, whose share of what all need is bounded; see Shares.
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, &party{owner, context.Background()})
}

// Owner returns the owner of the work in a context, "" for the server itself.
func Owner(ctx context.Context) string {
	owner := partyOf(ctx)
	if owner.joined.Err() != nil {
		return fmt.Sprintf("shared work %p", owner)
	}
	return owner.name
}

func partyOf(ctx context.Context) *party {
	if owner, ok := ctx.Value(ownerKey{}).(*party); ok {
		return owner
	}
	return &party{joined: context.Background()}
}

// Joint returns a context for work that others may wait for, too: pass the context of each of them to join. The work
// has the owner of ctx until another owner joins. From then on it is an owner of its own, so that nobody has to wait
// until the other work of the first one is done.
func Joint(ctx context.Context) (_ context.Context, join func(context.Context)) {
	first := partyOf(ctx)
	joined, share := context.WithCancel(first.joined)
	join = func(other context.Context) {
		if by := partyOf(other); by.name != first.name {
			share()
		} else {
			context.AfterFunc(by.joined, share) //nolint:contextcheck // it is a flag
		}
	}
	return context.WithValue(ctx, ownerKey{}, &party{first.name, joined}), join
}
