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

// assets are the files that pages load, by name, with a part of their digests: a link to a file changes with it.
type assets map[string]asset

type asset struct {
	text   []byte
	digest string
}

func readAssets() assets {
	all := assets{}
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

// Asset answers with a file that pages load.
func (p *layout) Asset(w http.ResponseWriter, r *http.Request) {
	found, ok := p.assets[r.PathValue("file")]
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
