package authn

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"purser/internal/document"
)

//nolint:gosec // no secret, but words about some
const tokenFileHead = `# Bearer tokens that Purser accepts. Only their SHA-256 stands here, which gives none away.
# Delete an entry to revoke its token. The file must be readable by its owner only.
`

// AppendToken adds an entry to a token file and makes the file, mode 0600, if there is none. What stands in it already,
// comments too, is left as it is. The file is replaced at once by a whole new one, so no reader ever sees half of it,
// and two processes that append at the same time wait for each other.
func AppendToken(path string, entry Token) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // else the new file would take the link's place
	}
	unlock, err := lockDirectory(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("append a token: %w", err)
	}
	defer unlock()
	old, state, err := readPrivate(path, largestTokenFile)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = []byte(tokenFileHead), nil
	}
	if err != nil {
		return fmt.Errorf("append a token: %w", err)
	}
	text, err := appended(old, entry)
	if err != nil {
		return fmt.Errorf("append a token to %s: %w", path, err)
	}
	return replaceFile(path, text, state)
}

// appended is the text of a token file with one entry more.
func appended(old []byte, entry Token) ([]byte, error) {
	before, err := parseTokens(old)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	text := bytes.Clone(old)
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	text = document.AppendYAML(text, document.AppendJSON(nil, []any{entry.mapping()}))
	after, err := parseTokens(text)
	if err == nil && len(after) != len(before)+1 {
		err = errors.New("its list does not go on at the end; write entries as '- id: …' at the start of a line")
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

// lockDirectory waits until no other process holds the directory locked.
func lockDirectory(path string) (unlock func(), err error) {
	directory, err := os.Open(path) //nolint:gosec // the operator's own
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the path and what was done
	}
	if err := syscall.Flock(int(directory.Fd()), syscall.LOCK_EX); err != nil {
		_ = directory.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = directory.Close() }, nil
}

// replaceFile puts a text in a file's place. The file keeps its owner, so that root can add a token to a file that
// another user's server reads.
func replaceFile(path string, text []byte, old fileState) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".tokens-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if old.inode != 0 && int(old.user) != os.Geteuid() {
		err = file.Chown(int(old.user), int(old.group))
	}
	if err == nil {
		_, err = file.Write(text)
	}
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err //nolint:wrapcheck // wrapped above
	}
	return syncDirectory(filepath.Dir(path))
}

func syncDirectory(path string) error {
	directory, err := os.Open(path) //nolint:gosec // the operator's own
	if err != nil {
		return err //nolint:wrapcheck // wrapped by the caller
	}
	defer func() { _ = directory.Close() }()
	return directory.Sync() //nolint:wrapcheck // the same
}
