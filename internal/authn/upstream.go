package authn

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	patience      = 10 * time.Second // with somebody who is asked about a token
	largestAnswer = 1 << 20          // bytes of what they answer
)

// bounded returns a client that neither waits forever nor reads without end, whatever the given one does. It follows no
// redirect: that would carry the tokens in a request's header to whomever the answer names.
func bounded(client *http.Client) *http.Client {
	c := *client
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Transport = boundedTransport{c.Transport}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.Timeout <= 0 || c.Timeout > patience {
		c.Timeout = patience
	}
	return &c
}

type boundedTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper. To read more of the answer than is allowed is an error.
func (t boundedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, largestAnswer)
	}
	return response, err //nolint:wrapcheck // a decorator
}

// checkURL refuses what is no address of a service.
func checkURL(text string) error {
	address, err := url.Parse(text)
	switch {
	case err != nil, address.Scheme != "https" && address.Scheme != "http", address.Host == "":
		return errors.New("an address such as https://id.example is expected")
	case address.User != nil:
		return errors.New("an address must not hold a user or password")
	case address.RawQuery != "" || address.Fragment != "":
		return fmt.Errorf("the address %s has a query or a fragment", address.Redacted())
	}
	return nil
}

// brief cuts an error's text, which may hold a whole page that a proxy answered with.
func brief(err error) string {
	const most = 300
	text := err.Error()
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}
