// Command image writes the container image of a built server, as an archive in the OCI image layout:
//
//	image -server PROGRAM -arch amd64 -version 1.2.3 -at 1700000000 -out image.oci.tar
//
// It needs neither a daemon nor a base image. The image has the server, the roots of public certificate authorities and
// what the server's user needs: no shell and no other program. The same arguments give the same bytes. The archive also
// has the manifest.json of docker save, for Docker without the containerd image store.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the user and the group that the server runs as, those of the Dockerfile.
const user = 65532

// order is what an image is made from.
type order struct {
	server, arch, version, out string
	at                         time.Time
}

func main() {
	var o order
	var seconds int64
	flag.StringVar(&o.server, "server", "", "the server's program")
	flag.StringVar(&o.arch, "arch", "", "the architecture that it was built for")
	flag.StringVar(&o.version, "version", "", "the version, which becomes the image's tag")
	flag.StringVar(&o.out, "out", "", "the archive to write")
	flag.Int64Var(&seconds, "at", 0, "modification time of all files, in seconds since 1970")
	flag.Parse()
	o.at = time.Unix(seconds, 0).UTC()
	if err := o.write(); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// write writes the archive.
func (o order) write() error {
	// The name says that the image comes from no registry.
	tag, err := name.NewTag("localhost/purser:" + o.version)
	if err != nil {
		return fmt.Errorf("name the image: %w", err)
	}
	image, err := o.image()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "purser-image-")
	if err != nil {
		return fmt.Errorf("make a folder to work in: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the next boot does
	if err := lay(dir, image, tag); err != nil {
		return err
	}
	return o.archive(dir)
}

// image returns the image.
func (o order) image() (v1.Image, error) {
	files, err := o.files()
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("make the layer: %w", err)
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: o.at}
	image, err = mutate.Append(image, mutate.Addendum{
		Layer: layer, History: v1.History{Created: created, CreatedBy: "purser/tools/image"},
	})
	if err != nil {
		return nil, fmt.Errorf("add the layer: %w", err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	config = config.DeepCopy()
	config.Created, config.Architecture, config.OS = created, o.arch, "linux"
	config.Config = v1.Config{
		User:         fmt.Sprintf("%d:%d", user, user),
		Env:          []string{"PATH=/usr/local/bin", "PURSER_LISTEN=0.0.0.0:9000"},
		ExposedPorts: map[string]struct{}{"9000/tcp": {}},
		Entrypoint:   []string{"/usr/local/bin/purser-server"},
		WorkingDir:   "/",
		Labels: map[string]string{
			"org.opencontainers.image.title":       "purser",
			"org.opencontainers.image.description": "A revisioned, validating store of a site's configuration documents",
			"org.opencontainers.image.version":     o.version,
		},
	}
	return mutate.ConfigFile(image, config) //nolint:wrapcheck // it only replaces a value
}

// files returns the only layer.
func (o order) files() ([]byte, error) {
	server, err := os.ReadFile(o.server)
	if err != nil {
		return nil, fmt.Errorf("read the server: %w", err)
	}
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range []struct {
		name  string
		mode  int64
		owner int
		text  []byte
	}{
		{"etc/", 0o755, 0, nil},
		{"etc/passwd", 0o644, 0, fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\n"+
			"purser:x:%d:%d:purser:/var/lib/purser:/sbin/nologin\n", user, user)},
		{"etc/group", 0o644, 0, fmt.Appendf(nil, "root:x:0:\npurser:x:%d:\n", user)},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, authorities()},
		{"tmp/", 0o1777, 0, nil},
		{"usr/", 0o755, 0, nil},
		{"usr/local/", 0o755, 0, nil},
		{"usr/local/bin/", 0o755, 0, nil},
		{"usr/local/bin/purser-server", 0o755, 0, server},
		{"var/", 0o755, 0, nil},
		{"var/lib/", 0o755, 0, nil},
		{"var/lib/purser/", 0o700, user, nil}, // a volume there gets this owner
	} {
		header := &tar.Header{
			Name: f.name, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.text)), ModTime: o.at,
			Format: tar.FormatUSTAR,
		}
		if err := add(t, header, f.text); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), t.Close()
}

// authorities returns the roots of Mozilla that Go's own programs fall back to, as PEM. Those that Mozilla only trusts
// with conditions, which PEM cannot express, are left out.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory
		}
	}
	return b.Bytes()
}

// add adds a file, or a folder if the name in its header ends with a slash.
func add(t *tar.Writer, header *tar.Header, text []byte) error {
	if err := t.WriteHeader(header); err != nil {
		return fmt.Errorf("add %s: %w", header.Name, err)
	}
	if _, err := t.Write(text); err != nil {
		return fmt.Errorf("add %s: %w", header.Name, err)
	}
	return nil
}

// lay writes an image and its name to a folder, as OCI lays it out and, in manifest.json, for docker load.
func lay(dir string, image v1.Image, tag name.Tag) error {
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("lay out the image: %w", err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	err = path.AppendImage(image, layout.WithPlatform(v1.Platform{OS: config.OS, Architecture: config.Architecture}),
		layout.WithAnnotations(map[string]string{
			"io.containerd.image.name":          tag.Name(),
			"org.opencontainers.image.ref.name": tag.TagStr(),
		}))
	if err != nil {
		return fmt.Errorf("lay out the image: %w", err)
	}
	manifest, err := tarball.ComputeManifest(map[name.Reference]v1.Image{tag: image})
	if err != nil {
		return fmt.Errorf("describe the image for Docker: %w", err)
	}
	layers, err := image.Layers()
	if err != nil {
		return fmt.Errorf("list the layers: %w", err)
	}
	manifest[0].Config = blob(manifest[0].Config)
	for i, layer := range layers {
		digest, err := layer.Digest()
		if err != nil {
			return fmt.Errorf("name a layer: %w", err)
		}
		manifest[0].Layers[i] = blob(digest.String())
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("describe the image for Docker: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600) //nolint:wrapcheck // it names the file
}

// blob returns the path of a blob in the OCI image layout.
func blob(digest string) string { return "blobs/" + strings.ReplaceAll(digest, ":", "/") }

// archive writes the files of a folder to the archive, sorted by name.
func (o order) archive(dir string) (err error) {
	out, err := os.Create(o.out)
	if err != nil {
		return fmt.Errorf("create the archive: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	t := tar.NewWriter(out)
	err = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // lay wrote it
		if err != nil {
			return err //nolint:wrapcheck // it names the file
		}
		return add(t, &tar.Header{
			Name: filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator))), Mode: 0o644,
			Size: int64(len(text)), ModTime: o.at, Format: tar.FormatUSTAR,
		}, text)
	})
	if err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	return t.Close() //nolint:wrapcheck // it names the file
}
