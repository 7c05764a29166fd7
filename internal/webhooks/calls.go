package webhooks

import (
	"cmp"
	"net/url"
	"sync"

	"purser/internal/budget"
)

// MaxCalls is how many receivers a server calls at once, and maxCallsEach how often one of them, so that one that hangs
// leaves room for others. Sites share both: one gets at most half of the calls of a receiver.
const MaxCalls, maxCallsEach = 16, 8

// calls are the calls of receivers in progress, which the owners of webhooks share.
type calls struct {
	owners *budget.Shares

	mu        sync.Mutex
	receivers map[string]*budget.Shares // of sites, by scheme and host; those that are called
}

func newCalls() *calls {
	return &calls{owners: budget.NewShares(MaxCalls), receivers: map[string]*budget.Shares{}}
}

// begin reserves a call for a webhook of a site, which ends with end. It returns nil if the receiver, the owner or the
// site has its share.
func (c *calls) begin(site string, w Webhook) (end func()) {
	receiver := w.URL
	if u, err := url.Parse(w.URL); err == nil {
		receiver = u.Scheme + "://" + u.Host
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.receivers[receiver]
	if of == nil {
		of = budget.NewShares(maxCallsEach)
	}
	ofReceiver := of.Try(budget.Owner{User: site}, 1) // as a user, who has his bound beside others or not
	if ofReceiver == nil {
		return nil
	}
	ofOwner := c.owners.Try(budget.Owner{User: cmp.Or(w.Owner, receiver), Site: site}, 1)
	if ofOwner == nil {
		ofReceiver()
		return nil
	}
	c.receivers[receiver] = of
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		ofOwner()
		if ofReceiver(); of.Held() == 0 {
			delete(c.receivers, receiver)
		}
	}
}
