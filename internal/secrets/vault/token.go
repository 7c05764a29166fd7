package vault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// The shortest and the longest time between two renewals of a token.
const minWait, maxWait = 10 * time.Second, time.Hour

var errNotRenewable = errors.New("it is not renewable: make one with `vault token create -period=24h`, or keep it in " +
	"a file that Vault's agent replaces (--secrets-kms-token-file)")

// KeepToken renews the token whenever half of its time is over, until ctx ends. It logs once why that fails, and when
// it works again.
func (k *Key) KeepToken(ctx context.Context, log *slog.Logger, after func(time.Duration) <-chan time.Time) {
	complaint := ""
	for {
		wait, err := k.renew(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && complaint != "":
			log.InfoContext(ctx, "the token of Vault is renewed again")
			complaint = ""
		case err != nil && err.Error() != complaint:
			complaint = err.Error()
			log.ErrorContext(ctx, "the token of Vault is not renewed: once it has ended, a changed keyset file cannot be read, "+
				"and the server cannot start again", "error", complaint)
		}
		select {
		case <-ctx.Done():
			return
		case <-after(wait):
		}
	}
}

// renew renews the token if it ends at some time. It returns how long to wait before the next renewal, also with an
// error.
func (k *Key) renew(ctx context.Context) (wait time.Duration, err error) {
	const pause = time.Minute // between attempts that fail
	if err := k.readToken(); err != nil {
		return pause, err
	}
	token := k.client.Auth().Token()
	known, err := token.LookupSelfWithContext(ctx)
	if err != nil {
		return pause, fmt.Errorf("look it up: %w", err)
	}
	left, err := known.TokenTTL()
	switch {
	case err != nil:
		return maxWait, fmt.Errorf("look it up: %w", err)
	case left == 0: // it does not end
		return maxWait, nil
	}
	if renewable, err := known.TokenIsRenewable(); err != nil || !renewable {
		return waitFor(left), errNotRenewable
	}
	renewed, err := token.RenewSelfWithContext(ctx, 0)
	if err != nil {
		return pause, fmt.Errorf("renew it: %w", err)
	}
	if left, err = renewed.TokenTTL(); err != nil {
		return pause, fmt.Errorf("renew it: %w", err)
	}
	return waitFor(left), nil
}

// waitFor returns how long to wait before a token is renewed that has some time left.
func waitFor(left time.Duration) time.Duration { return min(max(left/2, minWait), maxWait) }
