package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// MaxBytes bounds an answer, decompressed. A site of 100,000 documents is smaller.
const MaxBytes = 512 << 20

// Config configures a Client.
type Config struct {
	Server string // its URL, which may have a path; one below /sites/SITE is that of the site
	Site   string // that requests are about; "" means that of Server, or else DefaultSite
	Token  string // "" if there is none
	// Renew returns the token for each request, instead of Token. It may be nil.
	Renew   func(context.Context) (string, error)
	TLS     TLS           // for an https URL
	Timeout time.Duration // of a request including all tries; 0 means 5 minutes
	Agent   string        // the User-Agent
	// Notice is called with the reason and the delay before a request is tried again. It may be nil.
	Notice func(string)
	// Transport replaces the transport for TLS.
	Transport http.RoundTripper
	MaxBytes  int64 // of an answer; 0 means MaxBytes
	Once      bool  // requests are not repeated
	// Plain leaves the advice out of errors: it names flags and commands of purser.
	Plain bool
	// SiteFlag is the flag, with a space before it, by which commands in hints name the site; "" if they need none.
	SiteFlag string
	// Login is the hint in the error of a request that needs a token, or another one.
	Login string
}

// advice returns text for the end of an error, if the user has the command.
func (c *Client) advice(text string) string {
	if c.Plain {
		return ""
	}
	return text
}

// Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	Config

	base  *url.URL // of the server, without a site
	below string   // the path below base that paths of requests are relative to
	http  *http.Client
}

// New returns a client without connecting, or an error that describes the problem in the configuration.
func New(config Config) (*Client, error) {
	base, site, err := baseOf(config.Server)
	if err != nil {
		return nil, err
	}
	if config.Timeout <= 0 {
		config.Timeout = 5 * time.Minute
	}
	if config.MaxBytes <= 0 {
		config.MaxBytes = MaxBytes
	}
	if config.Notice == nil {
		config.Notice = func(string) {}
	}
	if strings.ContainsFunc(config.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token holds white space or characters that no token has")
	}
	transport := config.Transport
	if transport == nil {
		if transport, err = config.TLS.transport(); err != nil {
			return nil, err
		}
	}
	c := &Client{Config: config, base: base, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if config.Site != "" {
		return c.At(config.Site), nil
	}
	c.below, c.Site = pathOf(site)+apiPath, site
	return c, nil
}

const (
	apiPath   = "/api/v1.0"
	sitesPath = "/sites"

	// DefaultSite is the site of requests whose path names none, as those to servers that have only one.
	DefaultSite = "default"
	// AllSites stands for all sites, of which some lists can be read at once.
	AllSites = "-"
)

// At returns a client of the same server for another site.
func (c *Client) At(site string) *Client {
	of := *c
	of.below, of.Site = apiPath, site
	if site != DefaultSite {
		of.below = pathOf(site) + apiPath
	}
	return &of
}

// Sites returns a client of the same server, the paths of whose requests are below /sites.
func (c *Client) Sites() *Client {
	of := *c
	of.below = sitesPath
	return &of
}

// pathOf returns the path of a site, "" for none.
func pathOf(site string) string {
	if site == "" {
		return ""
	}
	return sitesPath + "/" + url.PathEscape(site)
}

// Root returns the URL of a server without the paths of the API and of a site; text that is no such URL is unchanged.
func Root(server string) string {
	base, _, err := baseOf(server)
	if err != nil {
		return server
	}
	return base.String()
}

// baseOf returns the URL that the paths of sites and of the API are relative to, and the site that a URL is about, ""
// for none. It accepts the URL of a site and of its API, too.
func baseOf(server string) (base *url.URL, site string, err error) {
	base, err = url.Parse(server)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("the server's URL cannot be read: %w", err)
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, "", fmt.Errorf("the server must be a URL such as https://purser.example:9000, and not %q", server)
	case base.User != nil:
		return nil, "", errors.New("the server's URL holds a user or password; Purser takes tokens and client certificates")
	case base.RawQuery != "" || base.Fragment != "":
		return nil, "", fmt.Errorf("the server's URL %q has a query or fragment", server)
	}
	below := strings.TrimSuffix(strings.TrimSuffix(path.Clean("/"+base.Path), "/"), apiPath)
	if at, name := path.Split(below); strings.HasSuffix(at, sitesPath+"/") {
		below, site = strings.TrimSuffix(at, sitesPath+"/"), name
	}
	return &url.URL{Scheme: base.Scheme, Host: base.Host, Path: below}, site, nil
}

// TokenInClear reports whether the token is sent over a network without TLS.
func (c *Client) TokenInClear() bool {
	return c.Token != "" && !IsSafe(c.base)
}

// IsSafe reports whether nobody else can read or forge what is sent to a URL: it uses TLS, or is on this machine.
func IsSafe(at *url.URL) bool {
	if at.Scheme == "https" || at.Hostname() == "localhost" {
		return at.Host != ""
	}
	ip := net.ParseIP(at.Hostname())
	return ip != nil && ip.IsLoopback()
}

// Request is a request to the API.
type Request struct {
	Method  string   // "" means GET
	Path    []string // below /api/v1.0 of the site, not escaped
	Root    string   // the path below the server's URL, instead of Path
	Query   url.Values
	Accept  string // "" means application/json
	IfMatch string // an ETag or the number of a revision, in quotes
	New     bool   // a PUT only makes what does not exist yet
	Source  string // the URL of the commit that a change is made from
	Body    []byte // YAML, or JSON if it is JSON or a Question
	JSON    bool
	// Question marks a POST that changes nothing, with JSON that is too large for a URL. It may be repeated.
	Question bool
	// Again marks a change that may be sent twice, because the second one changes nothing.
	Again bool
	// Wait is the time that the server may wait before it answers, including the waits of earlier tries.
	Wait time.Duration
	// Others are status codes that are not errors.
	Others []int
}

// Answer is an answer of the API.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// The media types that requests ask for.
const (
	JSON     = "application/json"
	YAML     = "application/x-yaml"
	Text     = "text/plain"
	HTML     = "text/html"
	SVG      = "image/svg+xml"
	Graphviz = "text/vnd.graphviz"
	Patch    = "application/json-patch+json"
)

// Do sends a request and returns its answer. It returns an *Error if the server answers with an error; other errors
// describe a failure of the connection.
func (c *Client) Do(ctx context.Context, r Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout+r.Wait)
	defer cancel()
	began, asked := time.Now(), r
	return c.repeat(ctx, r, func() (Answer, error) {
		if r.Wait > 0 {
			left := max(0, r.Wait-time.Since(began)).Round(time.Millisecond)
			asked.Query = cloned(r.Query)
			asked.Query.Set("wait", left.String())
		}
		return c.once(ctx, asked)
	})
}

// once sends a request without repeating it.
func (c *Client) once(ctx context.Context, r Request) (Answer, error) {
	request, err := c.build(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return Answer{}, c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	body.Grow(int(min(max(response.ContentLength, 0), c.MaxBytes)) + bytes.MinRead)
	read, err := body.ReadFrom(io.LimitReader(response.Body, c.MaxBytes+1))
	switch {
	case err != nil:
		return Answer{}, c.brokenOff(ctx, read, err)
	case read > c.MaxBytes:
		return Answer{}, fmt.Errorf("the answer of %s has more than %d bytes, the most that is read; ask for less of it",
			c.base, c.MaxBytes)
	}
	answer := Answer{response.StatusCode, response.Header, body.Bytes()}
	if answer.Status/100 == 2 || slices.Contains(r.Others, answer.Status) {
		return answer, c.expected(r, answer)
	}
	return Answer{}, c.errorOf(ctx, r, answer)
}

func (c *Client) build(ctx context.Context, r Request) (*http.Request, error) {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	at := c.URL(r.Path, r.Query)
	if r.Root != "" {
		at = c.base.String() + r.Root
	}
	request, err := http.NewRequestWithContext(ctx, method, at, body)
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
	}
	token := c.Token
	if c.Renew != nil {
		if token, err = c.Renew(ctx); err != nil {
			return nil, err
		}
	}
	request.Header.Set("Accept", r.accept())
	unless := ""
	if r.New {
		unless = "*"
	}
	for name, value := range map[string]string{
		"If-Match": r.IfMatch, "If-None-Match": unless, "X-Purser-Source": r.Source, "User-Agent": c.Agent,
	} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	if r.Body != nil {
		request.Header.Set("Content-Type", r.bodyType())
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request, nil
}

func (r Request) bodyType() string {
	if r.JSON || r.Question {
		return JSON
	}
	return YAML
}

func (r Request) accept() string {
	if r.Accept == "" {
		return JSON
	}
	return r.Accept
}

// URL returns the URL of a path of the API.
func (c *Client) URL(steps []string, query url.Values) string {
	escaped := []string{c.base.String() + c.below}
	for _, step := range steps {
		escaped = append(escaped, url.PathEscape(step))
	}
	at := strings.Join(escaped, "/")
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	return at
}

// expected returns an error if an answer does not have the requested type, such as a proxy's login page.
func (c *Client) expected(r Request, answer Answer) error {
	if len(answer.Body) == 0 {
		return nil
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind == r.accept() {
		return nil
	}
	return fmt.Errorf("%s answers with %q where %s was asked for: it is not Purser, or there is a proxy before it that "+
		"wants something first", c.base, answer.Header.Get("Content-Type"), r.accept())
}
