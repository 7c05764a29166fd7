package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
)

// record is what pulls have written to a folder, so that the next one replaces nothing else. It is kept in the cache of
// the user and not in the folder, which may be a clone.
type record struct {
	Folder string           `json:"folder"`
	Files  map[string]wrote `json:"files"` // by name
}

// wrote is a file as a pull has written it.
type wrote struct {
	SHA256    string `json:"sha256"`
	Encrypted bool   `json:"encrypted,omitempty"` // it has an encrypted document
}

// is reports whether a file is as it was written.
func (w wrote) is(root *os.Root, name string) bool {
	info, err := root.Lstat(filepath.FromSlash(name))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := root.ReadFile(filepath.FromSlash(name))
	return err == nil && sumOf(text) == w.SHA256
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// recordOf returns the name of the file with the record of a folder, and the folder's own name.
func recordOf(dir string) (name, folder string, err error) {
	if folder, err = filepath.Abs(dir); err != nil {
		return "", "", fmt.Errorf("find the folder: %w", err)
	}
	if target, err := filepath.EvalSymlinks(folder); err == nil {
		folder = target
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", fmt.Errorf("find the cache, where it is kept what pulls have written: %w; set HOME or "+
			"XDG_CACHE_HOME", err)
	}
	return filepath.Join(cache, "purser", "pulled", sumOf([]byte(folder))+".json"), folder, nil
}

// lastPull returns the record of a folder, an empty one if there is none.
func lastPull(dir string) (last record, err error) {
	name, folder, err := recordOf(dir)
	if err != nil {
		return last, err
	}
	text, err := os.ReadFile(name) //nolint:gosec // a digest is the name
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &last)
	}
	if err != nil {
		return last, fmt.Errorf("read what earlier pulls have written from %s: %w; delete this file, and pull into a new "+
			"folder", name, err)
	}
	if last.Folder != folder {
		last = record{}
	}
	return last, nil
}

// remember records what the pull has written and deleted. It also keeps what was written before and stays.
func (p Pull) remember(written, deleted []string) error {
	name, folder, err := recordOf(p.dir)
	if err != nil {
		return err
	}
	next := record{folder, maps.Clone(p.last.Files)}
	if next.Files == nil {
		next.Files = map[string]wrote{}
	}
	for _, name := range deleted {
		delete(next.Files, name)
	}
	for _, name := range written {
		next.Files[name] = wrote{sumOf(p.files[name].text), p.files[name].encrypted}
	}
	text, err := json.Marshal(next)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o700)
	}
	if err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("record what was written: %w", err)
	}
	return nil
}
