package wire

import (
	"encoding/json"

	"purser/internal/fault"
)

// Explanation says where the data of a rendered document comes from.
type Explanation struct {
	Document Version   `json:"document"`
	Parents  []Version `json:"parents"`
	Leaves   []Leaf    `json:"leaves"`
}

// Leaf is a value of a rendered document and its origin.
type Leaf struct {
	Path   string          `json:"path"`
	Value  json.RawMessage `json:"value,omitempty"` // absent if it is secret
	Secret bool            `json:"secret,omitempty"`
	Trail
}

// Trail is the origin of a value, and its later changes.
type Trail struct {
	From    Written `json:"from"`
	Steps   []Step  `json:"steps"`
	Omitted int     `json:"omitted,omitempty"` // steps
}

// Written is where a value was written.
type Written struct {
	Version

	Path Optional `json:"path"` // null for an empty container created by the first step
}

// Step is one change of a value during rendering.
type Step struct {
	Kind         string   `json:"kind"`
	Document     Version  `json:"document"`
	Action       *int     `json:"action,omitempty"`
	Substitution *int     `json:"substitution,omitempty"`
	Source       *Version `json:"source,omitempty"`
	From         string   `json:"from,omitempty"`
	Part         string   `json:"part,omitempty"`
	Path         string   `json:"path,omitempty"`
	Pattern      string   `json:"pattern,omitempty"`
	Value        *Trail   `json:"value,omitempty"` // the value that replaced the pattern
}

// Text describes the change.
func (s Step) Text() string {
	in := " in " + s.Document.Name
	switch s.Kind {
	case "inherit":
		return "inherited by " + s.Document.Name
	case "merge":
		return "merged at " + s.Path + in
	case "replace":
		return "put at " + s.Path + in
	case "delete":
		return "left empty by deleting " + s.Path + in
	case "substitute":
		return "substituted to " + s.Path + in
	case "insert":
		return s.Pattern + " replaced" + in + " by " + s.From + " of " + s.Source.Name
	}
	return s.Kind + in
}

// Graph says how the documents of a revision depend on each other.
type Graph struct {
	Revision  int64           `json:"revision"`
	Layers    []string        `json:"layers"`
	Unordered []string        `json:"unorderedLayers"`
	Nodes     []Node          `json:"nodes"`
	Edges     []Edge          `json:"edges"`
	Problems  []fault.Message `json:"problems"`
}

// Node is a document of a graph.
type Node struct {
	ID          int               `json:"id"` // within this answer
	Schema      string            `json:"schema"`
	Layer       Optional          `json:"layer"`
	Name        Optional          `json:"name"`
	Bucket      Optional          `json:"bucket"`
	Missing     Optional          `json:"missing"` // the missing part; "" if the document exists
	Selector    map[string]string `json:"parentSelector,omitempty"`
	Abstract    bool              `json:"abstract"`
	Control     bool              `json:"control"`
	Encrypted   bool              `json:"encrypted"`
	Replacement bool              `json:"replacement"`
	Replaced    bool              `json:"replaced"`
	ReplacedBy  *int              `json:"replacedBy"`
}

// Identity returns the document's identity.
func (n Node) Identity() Identity { return Identity{n.Schema, n.Layer, string(n.Name), n.Bucket} }

// Edge is a dependency between two nodes of a graph.
type Edge struct {
	From     int    `json:"from"`
	To       int    `json:"to"`
	Kind     string `json:"kind"`
	Cyclic   bool   `json:"cyclic"`
	Doubtful bool   `json:"doubtful"`
	Copies   []Copy `json:"substitutions,omitempty"`
}

// Copy is a value that a substitution copies.
type Copy struct {
	From string   `json:"src"`
	To   []string `json:"dest"`
}
