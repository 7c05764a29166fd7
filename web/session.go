package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// session is the content of a user's cookie.
type session struct {
	Token string    `json:"token"`
	Until time.Time `json:"until"`
}

// maxSession is the maximum duration of a session. The API checks at each request whether the token is still valid.
const maxSession = 12 * time.Hour

const (
	sessionCookie = "purser-session"
	// maxCookie bounds the value of one cookie: browsers keep 4096 bytes of a cookie with its name. A session uses as
	// many cookies as it needs.
	maxCookie  = 3500
	maxCookies = 8 // for a token of 16 KiB, which is the longest that the API takes
)

// sealer encrypts the content of cookies.
type sealer struct{ aead cipher.AEAD }

func newSealer(key []byte) (*sealer, error) {
	const minKey, keySize = 32, 32
	if len(key) < minKey {
		return nil, fmt.Errorf("the key of sessions has %d bytes and needs %d", len(key), minKey)
	}
	derived, err := hkdf.Key(sha256.New, key, nil, "purser ui sessions", keySize)
	if err != nil {
		return nil, fmt.Errorf("derive the key of sessions: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("key of sessions: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("key of sessions: %w", err)
	}
	return &sealer{aead}, nil
}

// seal encrypts a value for a purpose.
func (s *sealer) seal(purpose string, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("seal: %w", err)
	}
	sealed := s.aead.Seal(nil, nil, text, []byte(purpose)) //nolint:gosec // it takes a random nonce itself
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// open decrypts a value sealed for a purpose.
func (s *sealer) open(purpose, sealed string, into any) error {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return errors.New("open: it is not in Base64")
	}
	text, err := s.aead.Open(nil, nil, raw, []byte(purpose))
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	return json.Unmarshal(text, into) //nolint:wrapcheck // it was sealed here
}

// sessionOf returns the session of a request, the zero session if it has no valid one.
func (s *server) sessionOf(r *http.Request) session {
	var sealed strings.Builder
	for i := range maxCookies {
		cookie, err := r.Cookie(cookieName(i))
		if err != nil {
			break
		}
		sealed.WriteString(cookie.Value)
	}
	var found session
	if sealed.Len() == 0 || s.seal.open(sessionCookie, sealed.String(), &found) != nil || !s.Now().Before(found.Until) {
		return session{}
	}
	return found
}

func cookieName(i int) string {
	if i == 0 {
		return sessionCookie
	}
	return sessionCookie + "-" + strconv.Itoa(i)
}

// begin stores a session in the browser.
func (s *server) begin(w http.ResponseWriter, r *http.Request, of session) error {
	sealed, err := s.seal.seal(sessionCookie, of)
	if err != nil {
		return err
	}
	if len(sealed) > maxCookie*maxCookies {
		return &refusal{status: http.StatusBadRequest, message: "The token is too long."}
	}
	for i := range maxCookies {
		part := sealed[:min(len(sealed), maxCookie)]
		sealed = sealed[len(part):]
		until := of.Until
		if part == "" { // of an older session, which the browser may not show us here
			until = time.Time{}
		}
		http.SetCookie(w, s.cookie(r, cookieName(i), part, until, http.SameSiteStrictMode))
	}
	return nil
}

// end deletes the session from the browser.
func (s *server) end(w http.ResponseWriter, r *http.Request) {
	for i := range maxCookies {
		http.SetCookie(w, s.cookie(r, cookieName(i), "", time.Time{}, http.SameSiteStrictMode))
	}
}

// cookie returns a cookie; an empty value deletes it.
func (s *server) cookie(r *http.Request, name, value string, until time.Time, sites http.SameSite) *http.Cookie {
	cookie := &http.Cookie{ //nolint:gosec // where browsers come by https it is Secure
		Name: name, Value: value, Path: s.base, HttpOnly: true, SameSite: sites,
		// The header can only come from the proxy in front, and makes the cookie stricter.
		Secure: s.secure || r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
	if cookie.Expires = until; value == "" {
		cookie.MaxAge = -1
	}
	return cookie
}
