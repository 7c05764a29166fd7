package authn

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"purser/internal/document/blockyaml"

	"purser/internal/document"
	"purser/internal/files"
)

//nolint:gosec // no secret, but words about some
const tokenFileHead = `# Bearer tokens that Purser accepts. Only their SHA-256 hashes are stored here.
# Delete an entry to revoke its token. The file must be readable by its owner only.
`

// AppendToken adds an entry to a token file. It creates the file with mode 0600 if it does not exist, and preserves the
// other entries and comments. The file is replaced atomically, and a lock serializes concurrent calls, including those
// of other processes.
func AppendToken(path string, entry Token) error {
	path, unlock, err := files.Lock(path)
	if err != nil {
		return fmt.Errorf("append a token: %w", err)
	}
	defer unlock()
	old, err := files.ReadPrivate(path, maxTokenFile)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = []byte(tokenFileHead), nil
	}
	if err != nil {
		return fmt.Errorf("append a token: %w", err)
	}
	text, err := withEntry(old, entry)
	if err != nil {
		return fmt.Errorf("append a token to %s: %w", path, err)
	}
	return files.Replace(path, text)
}

// withEntry returns the text of a token file with entry added.
func withEntry(old []byte, entry Token) ([]byte, error) {
	before, err := parseTokens(old)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	text := bytes.Clone(old)
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	text = blockyaml.Append(text, document.AppendJSON(nil, []any{entry.mapping()}))
	after, err := parseTokens(text)
	if err == nil && len(after) != len(before)+1 {
		err = errors.New("an entry cannot be appended to its list; write entries as '- id: …' at the start of a line")
	}
	return text, err
}

func (t *Token) mapping() document.Mapping {
	roles := make([]any, 0, len(t.Roles))
	for _, role := range t.Roles {
		roles = append(roles, role)
	}
	m := document.Mapping{{Key: "id", Value: t.ID}, {Key: "user", Value: t.User}}
	if t.Project != "" {
		m = append(m, document.Member{Key: "project", Value: t.Project})
	}
	m = append(m, document.Member{Key: "roles", Value: roles},
		document.Member{Key: "created", Value: t.Created.UTC().Format(time.RFC3339)})
	if !t.Expires.IsZero() {
		m = append(m, document.Member{Key: "expires", Value: t.Expires.UTC().Format(time.RFC3339)})
	}
	return append(m, document.Member{Key: "sha256", Value: t.Hash.String()})
}
