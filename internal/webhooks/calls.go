package webhooks

import (
	"cmp"
	"net/url"
	"sync"

	"purser/internal/budget"
)

// MaxCalls is how many receivers a server calls at once, and maxCallsEach how often one of them, so that one that hangs
// leaves room for others.
const MaxCalls, maxCallsEach = 16, 4

// calls are the calls of receivers in progress, which the owners of webhooks share.
type calls struct {
	owners *budget.Shares

	mu        sync.Mutex
	receivers map[string]int // by scheme and host
}

func newCalls() *calls {
	return &calls{owners: budget.NewShares(MaxCalls), receivers: map[string]int{}}
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
	if c.receivers[receiver] >= maxCallsEach {
		return nil
	}
	release := c.owners.Try(budget.Owner{User: cmp.Or(w.Owner, receiver), Site: site}, 1)
	if release == nil {
		return nil
	}
	c.receivers[receiver]++
	return func() {
		release()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.receivers[receiver]--; c.receivers[receiver] == 0 {
			delete(c.receivers, receiver)
		}
	}
}
