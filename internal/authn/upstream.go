package authn

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"purser/internal/words"
)

const (
	askTimeout = 10 * time.Second // for a request to an issuer
	maxAnswer  = 1 << 20          // bytes of an issuer's answer
)

// Bounded returns a copy of client with a timeout and a limit on the size of responses. It does not follow redirects,
// which would send the tokens in a request's header to another host.
func Bounded(client *http.Client) *http.Client {
	c := *client
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Transport = boundedTransport{c.Transport}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.Timeout <= 0 || c.Timeout > askTimeout {
		c.Timeout = askTimeout
	}
	return &c
}

type boundedTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper. Reading more than maxAnswer bytes of the response body fails.
func (t boundedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxAnswer)
	}
	return response, err
}

// checkURL returns an error unless text is the URL of a service.
func checkURL(text string) error {
	address, err := url.Parse(text)
	switch {
	case err != nil, address.Scheme != "https" && address.Scheme != "http", address.Host == "":
		return errors.New("expected an address such as https://id.example")
	case address.User != nil:
		return errors.New("an address must not contain a user or password")
	case address.RawQuery != "" || address.Fragment != "":
		return fmt.Errorf("the address %s has a query or a fragment", address.Redacted())
	}
	return nil
}

// brief shortens an error's text, which may contain a whole page from a proxy.
func brief(err error) string {
	const maxBytes = 300
	return words.FirstBytes(err.Error(), maxBytes)
}
