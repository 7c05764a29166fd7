package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"purser/internal/check"
	"purser/internal/files"
)

var errNoConfiguration = errors.New("there is no place for a configuration file: set HOME or XDG_CONFIG_HOME")

// changeConfiguration changes the configuration file, and creates it if it is missing. The function change changes its
// top mapping. Comments stay; empty lines do not. A lock keeps concurrent calls from losing each other's changes.
func changeConfiguration(ctx context.Context, path string, change func(top *yaml.Node) error) error {
	if path == "" {
		return errNoConfiguration
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("change the configuration: %w", err)
	}
	target, unlock, err := lockFile(path)
	if err != nil {
		return fmt.Errorf("change the configuration: %w", err)
	}
	defer unlock()
	old, err := os.ReadFile(target) //nolint:gosec // the user names it
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("change the configuration: %w", err)
	}
	text, err := changed(old, change)
	if err == nil {
		err = check.DecodeOptions(ctx, text, &configuration{})
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", path, err)
	}
	return files.Replace(target, text)
}

// lockFile locks a file as files.Lock does. It does nothing on Windows.
func lockFile(path string) (target string, unlock func(), err error) {
	target, unlock, err = files.Lock(path)
	if errors.Is(err, errors.ErrUnsupported) {
		return path, func() {}, nil
	}
	return target, unlock, err
}

// changed returns the text of a YAML mapping after a change, with its comments.
func changed(old []byte, change func(top *yaml.Node) error) ([]byte, error) {
	var file yaml.Node
	var b bytes.Buffer
	if err := yaml.Unmarshal(old, &file); err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if len(file.Content) == 0 { // no file, or comments only
		b.Write(old)
		file.Kind, file.Content = yaml.DocumentNode, []*yaml.Node{{Kind: yaml.MappingNode}}
	}
	top := file.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, errors.New("it is not a mapping")
	}
	if err := change(top); err != nil {
		return nil, err
	}
	if len(top.Content) == 0 {
		return b.Bytes(), nil
	}
	const indent = 2
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(indent)
	err := encoder.Encode(&file)
	if err := errors.Join(err, encoder.Close()); err != nil {
		return nil, fmt.Errorf("write it: %w", err)
	}
	return b.Bytes(), nil
}

// valueAt returns the value of a key in a mapping, nil if the mapping does not have it.
func valueAt(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i < len(mapping.Content)-1; i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// mappingAt returns the mapping that is the value of a key, which it adds if it is missing.
func mappingAt(mapping *yaml.Node, key string) (*yaml.Node, error) {
	value := valueAt(mapping, key)
	if value == nil {
		value = &yaml.Node{Kind: yaml.MappingNode}
		mapping.Content = append(mapping.Content, scalar(key), value)
	}
	if value.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: %s is no mapping of its own: change the file in an editor", value.Line, key)
	}
	return value, nil
}

// setText sets the value of a key in a mapping; "" removes the key.
func setText(mapping *yaml.Node, key, text string) {
	switch value := valueAt(mapping, key); {
	case text == "":
		removeKey(mapping, key)
	case value == nil:
		mapping.Content = append(mapping.Content, scalar(key), scalar(text))
	default:
		set := scalar(text)
		set.LineComment, set.FootComment = value.LineComment, value.FootComment
		*value = *set
	}
}

// removeKey removes a key and its value from a mapping, with their comments. It returns the comment before the key.
func removeKey(mapping *yaml.Node, key string) (comment string) {
	for i := 0; i < len(mapping.Content)-1; i += 2 {
		if mapping.Content[i].Value == key {
			comment = mapping.Content[i].HeadComment
			mapping.Content = append(mapping.Content[:i], mapping.Content[i+2:]...)
			return comment
		}
	}
	return ""
}

// scalar returns a string, quoted if YAML would read something else.
func scalar(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	return node
}
