package lsp

import "encoding/json"

// The parts of the protocol that the server uses, with the names of the specification:
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/

type position struct {
	Line      int `json:"line"`      // counts from 0
	Character int `json:"character"` // counts from 0, in UTF-16 code units
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type initializeParams struct {
	RootURI          string `json:"rootUri"`
	WorkspaceFolders []struct {
		URI string `json:"uri"`
	} `json:"workspaceFolders"`
	Capabilities struct {
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

// openParams are those of didOpen, didChange and didClose.
type openParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
	ContentChanges []struct {
		Range json.RawMessage `json:"range"`
		Text  string          `json:"text"`
	} `json:"contentChanges"`
}

type positionParams struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Position position `json:"position"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Range    span      `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Related  []related `json:"relatedInformation,omitempty"`
}

// The severities of diagnostics.
const (
	severityError = 1 + iota
	severityWarning
	severityInformation
)

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hover struct {
	Contents markup `json:"contents"`
}

type completionItem struct {
	Label    string   `json:"label"`
	Kind     int      `json:"kind"`
	Detail   string   `json:"detail,omitempty"`
	Doc      string   `json:"documentation,omitempty"`
	SortText string   `json:"sortText"`
	TextEdit textEdit `json:"textEdit"`
}

// The kinds of completion items.
const (
	kindProperty  = 10
	kindValue     = 12
	kindReference = 18
)

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

// serverCapabilities is the answer to initialize.
const serverCapabilities = `{
	"positionEncoding": "utf-16",
	"textDocumentSync": {"openClose": true, "change": 1, "save": {"includeText": false}},
	"hoverProvider": true,
	"definitionProvider": true,
	"completionProvider": {"triggerCharacters": [" ", ":", "/", "-"]}
}`

// watchFiles asks the client to report changes of files.
const watchFiles = `{"registrations": [{"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions":
	{"watchers": [{"globPattern": "**/*.{yaml,yml,json}"}, {"globPattern": "**/.purser.yaml"}]}}]}`
