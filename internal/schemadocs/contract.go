package schemadocs

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/yuin/goldmark/parser"

	"purser/internal/document"
	"purser/internal/document/blockyaml"
)

// Contract writes an OpenAPI document, whose texts are Markdown, as a page like those of schemas: its operations by
// tag, then the schemas that they name. The document is trusted and bounded: it is the server's own.
func Contract(openAPI document.Mapping) ([]byte, error) {
	c := contract{of: openAPI}
	c.write()
	var content bytes.Buffer
	if err := toHTML().Convert([]byte(c.String()), &content, parser.WithContext(parser.NewContext())); err != nil {
		return nil, fmt.Errorf("convert Markdown: %w", err)
	}
	title := html.EscapeString(textAt(openAPI, "info", "title") + " " + textAt(openAPI, "info", "version"))
	return []byte(strings.NewReplacer("{title}", title, "{content}", content.String()).Replace(frame)), nil
}

// contract is the Markdown of an OpenAPI document.
type contract struct {
	strings.Builder

	of document.Mapping
}

func (c *contract) write() {
	fmt.Fprintf(c, "# %s %s\n\n", textAt(c.of, "info", "title"), textAt(c.of, "info", "version"))
	fmt.Fprintf(c, "The contract of this server, also as [YAML](openapi.yaml) and [JSON](openapi.json).\n\n%s\n",
		textAt(c.of, "info", "description"))
	for _, tag := range listAt(c.of, "tags") {
		c.writeTag(textAt(tag, "name"), textAt(tag, "description"))
	}
	fmt.Fprintf(c, "\n## Schemas\n")
	for _, schema := range mappingAt(c.of, "components", "schemas") {
		fmt.Fprintf(c, "\n### Schema %s\n\n", schema.Key)
		c.writeSchema(schema.Value)
	}
}

// writeTag writes the operations with a tag.
func (c *contract) writeTag(name, about string) {
	fmt.Fprintf(c, "\n## %s\n\n%s\n", strings.ToUpper(name[:1])+name[1:], about)
	for _, path := range mappingAt(c.of, "paths") {
		shared := listAt(path.Value, "parameters")
		for _, operation := range mappingAt(path.Value) {
			if slices.Contains(listAt(operation.Value, "tags"), any(name)) {
				c.writeOperation(strings.ToUpper(operation.Key)+" "+path.Key, operation.Value, shared)
			}
		}
	}
}

func (c *contract) writeOperation(route string, operation any, shared []any) {
	fmt.Fprintf(c, "\n### %s\n\n`%s`", textAt(operation, "operationId"), route)
	if rule := textAt(operation, "x-rule"); rule != "" {
		fmt.Fprintf(c, " needs the rule `%s`", rule)
	}
	fmt.Fprintf(c, "\n\n**%s**\n\n%s\n", textAt(operation, "summary"), textAt(operation, "description"))
	if parameters := slices.Concat(shared, listAt(operation, "parameters")); len(parameters) > 0 {
		fmt.Fprint(c, "\n| Parameter | Type | In | Description |\n|---|---|---|---|\n")
		for _, parameter := range parameters {
			p := c.target(parameter)
			fmt.Fprintf(c, "| `%s` | %s | %s | %s |\n", textAt(p, "name"),
				c.typeOf(document.Locate(p, []string{"schema"})), textAt(p, "in"),
				cell(textAt(p, "description")))
		}
	}
	if body := document.Locate(operation, []string{"requestBody"}); body != nil {
		fmt.Fprintf(c, "\n%s\n\n| Request | Type |\n|---|---|\n", textAt(body, "description"))
		for _, kind := range mappingAt(body, "content") {
			fmt.Fprintf(c, "| `%s` | %s |\n", kind.Key, c.typeOf(document.Locate(kind.Value, []string{"schema"})))
		}
	}
	c.writeAnswers(mappingAt(operation, "responses"))
}

// writeAnswers writes a table of answers, and the first example of the first one.
func (c *contract) writeAnswers(answers document.Mapping) {
	fmt.Fprint(c, "\n| Answer | Type | Media types | Description |\n|---|---|---|---|\n")
	var example any
	for _, answer := range answers {
		a := c.target(answer.Value)
		kinds, types := []string{}, []string{}
		for _, kind := range slices.Concat(mappingAt(a, "content"), mappingAt(a, "x-content")) {
			kinds = append(kinds, code(kind.Key))
			if name := c.typeOf(document.Locate(kind.Value, []string{"schema"})); !slices.Contains(types, name) {
				types = append(types, name)
			}
			for _, shown := range mappingAt(kind.Value, "examples") {
				if example == nil {
					example = document.Locate(c.target(shown.Value), []string{"value"})
				}
			}
		}
		fmt.Fprintf(c, "| %s | %s | %s | %s |\n", answer.Key, strings.Join(types, " or "), strings.Join(kinds, ", "),
			cell(textAt(a, "description")))
	}
	if example != nil {
		text := blockyaml.Append(nil, document.AppendJSON(nil, example))
		if said, ok := example.(string); ok {
			text = []byte(said)
		}
		fmt.Fprintf(c, "\n~~~~yaml\n%s\n~~~~\n", bytes.TrimSpace(text))
	}
}

// writeSchema writes a table of the properties of a schema, those of mappings in it by their path, or else its type.
func (c *contract) writeSchema(schema any) {
	if about := textAt(schema, "description"); about != "" {
		fmt.Fprintf(c, "%s\n\n", about)
	}
	rows := c.properties("", schema)
	if rows == nil {
		fmt.Fprintf(c, "%s\n", c.typeOf(schema))
		return
	}
	fmt.Fprintf(c, "| Property | Type | Description |\n|---|---|---|\n%s", strings.Join(rows, ""))
}

// properties returns the rows of the properties of a schema below a path.
func (c *contract) properties(path string, schema any) (rows []string) {
	for _, property := range mappingAt(schema, "properties") {
		at, kind := path+property.Key, c.typeOf(property.Value)
		if slices.Contains(listAt(schema, "required"), any(property.Key)) {
			kind += ", required"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", at, kind, cell(textAt(property.Value, "description"))))
		rows = append(rows, c.properties(at+".", property.Value)...)
		rows = append(rows, c.properties(at+"[].", document.Locate(property.Value, []string{"items"}))...)
	}
	for _, part := range listAt(schema, "allOf") {
		rows = append(rows, c.properties(path, part)...)
	}
	return rows
}

// typeOf returns the type of a schema in words, with links to the schemas that it names.
func (c *contract) typeOf(schema any) string {
	if name := strings.TrimPrefix(textAt(schema, "$ref"), schemaPointer); name != "" {
		return fmt.Sprintf("[%s](#schema-%s)", name, strings.ToLower(name))
	}
	for _, keyword := range []string{"oneOf", "anyOf", "allOf"} {
		var alternatives []string
		for _, part := range listAt(schema, keyword) {
			alternatives = append(alternatives, c.typeOf(part))
		}
		if alternatives != nil {
			return strings.Join(alternatives, map[bool]string{true: " and ", false: " or "}[keyword == "allOf"])
		}
	}
	kinds := listAt(schema, "type")
	if kind := textAt(schema, "type"); kind != "" {
		kinds = []any{kind}
	}
	named := make([]string, len(kinds))
	for i, kind := range kinds {
		named[i] = fmt.Sprint(kind)
	}
	kind := strings.Join(named, " or ")
	if items := document.Locate(schema, []string{"items"}); items != nil {
		kind += " of " + c.typeOf(items)
	}
	words := []string{kind}
	for _, value := range slices.Concat(listAt(schema, "enum"), []any{document.Locate(schema, []string{"const"})}) {
		if value != nil {
			words = append(words, code(fmt.Sprint(value)))
		}
	}
	return cmp.Or(strings.TrimSpace(strings.Join(words, " ")), "any")
}

const schemaPointer = "#/components/schemas/"

// target returns the value that a $ref refers to, or the value itself.
func (c *contract) target(value any) any {
	pointer, ok := strings.CutPrefix(textAt(value, "$ref"), "#/")
	if !ok {
		return value
	}
	return document.Locate(c.of, strings.Split(pointer, "/"))
}

// cell writes text for a cell of a table: on one line, without the bars between cells.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func textAt(value any, path ...string) string {
	text, _ := document.Locate(value, path).(string)
	return text
}

func listAt(value any, path ...string) []any {
	list, _ := document.Locate(value, path).([]any)
	return list
}

func mappingAt(value any, path ...string) document.Mapping {
	mapping, _ := document.Locate(value, path).(document.Mapping)
	return mapping
}
