package budget

import (
	"context"
	"fmt"
)

// Owner is whom work is counted for: a user, and the site that the work is about. Both are empty for work of the server
// itself, and the user alone for work that is for all users of a site.
type Owner struct{ User, Site string }

// party is the owner of the work in a context.
type party struct {
	owner Owner
	// joined is done once callers of different owners wait for the work; it then has a share of its own.
	joined context.Context //nolint:containedctx // a flag that work below inherits
}

type ownerKey struct{}

// WithOwner returns a context for the request of an owner, whose share of what all need is bounded; see Shares.
func WithOwner(ctx context.Context, owner Owner) context.Context {
	return context.WithValue(ctx, ownerKey{}, &party{owner, context.Background()})
}

// WithoutUser returns a context for work of the site of ctx that is not one user's: others wait for it, too.
func WithoutUser(ctx context.Context) context.Context {
	return WithOwner(ctx, Owner{Site: OwnerOf(ctx).Site})
}

// OwnerOf returns the owner of the work in a context, zero for the server itself.
func OwnerOf(ctx context.Context) Owner {
	of := partyOf(ctx)
	if of.joined.Err() != nil {
		return Owner{fmt.Sprintf("shared work %p", of), of.owner.Site}
	}
	return of.owner
}

func partyOf(ctx context.Context) *party {
	if owner, ok := ctx.Value(ownerKey{}).(*party); ok {
		return owner
	}
	return &party{joined: context.Background()}
}

// Joint returns a context for work that others may wait for, too: pass the context of each of them to join. The work
// has the owner of ctx until another owner joins. From then on it has, in the same site, a user of its own, so that
// nobody has to wait until the other work of the first one is done.
func Joint(ctx context.Context) (_ context.Context, join func(context.Context)) {
	first := partyOf(ctx)
	joined, share := context.WithCancel(first.joined)
	join = func(other context.Context) {
		if by := partyOf(other); by.owner != first.owner {
			share()
		} else {
			context.AfterFunc(by.joined, share) //nolint:contextcheck // it is a flag
		}
	}
	return context.WithValue(ctx, ownerKey{}, &party{first.owner, joined}), join
}
