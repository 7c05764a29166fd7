package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
)

//go:embed static
var staticFiles embed.FS

// asset is a file that pages load, with a part of its digest: a link to a file changes with it.
type asset struct {
	text   []byte
	digest string
}

// readAssets returns the files that pages load, by name.
func readAssets() map[string]asset {
	all := map[string]asset{}
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		panic(err) // they are part of the program
	}
	for _, entry := range entries {
		text, err := staticFiles.ReadFile(path.Join("static", entry.Name()))
		if err != nil {
			panic(err) // the same
		}
		const size = 8
		sum := sha256.Sum256(text)
		all[entry.Name()] = asset{text, hex.EncodeToString(sum[:size])}
	}
	return all
}

// asset answers with a file that pages load.
func (s *server) asset(w http.ResponseWriter, r *http.Request) {
	found, ok := s.assets[r.PathValue("file")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	kinds := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
	w.Header().Set("Content-Type", kinds[path.Ext(r.PathValue("file"))])
	if r.URL.Query().Get("v") == found.digest {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(found.text) // the browser may have disconnected
}
