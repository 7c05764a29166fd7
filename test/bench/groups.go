package main

import (
	"context"
	"fmt"
	"strings"

	"purser/internal/budget"
	"purser/internal/propertygroups"
	"purser/internal/validations"
)

const (
	groupedKeys = 40  // keys of a document of about 2 KB
	groupCount  = 10  // groups of its schema
	checksATurn = 500 // with fewer, a turn would be too short to time
)

// groups measures row 14.
func (b *bench) groups(ctx context.Context) error {
	b.sayf("row 14: checking a document with and without property groups")
	engine := validations.NewEngine(validations.Options{Extensions: []validations.Extension{propertygroups.Extension{}}})
	data := groupedData()
	check := func(groups int) func() error {
		text := groupedSchema(groups)
		checker, err := engine.Compile(budget.NewMeter(ctx), validations.DataSchema{Text: text}, validations.ClientVersions{})
		return func() error {
			if err != nil {
				return fmt.Errorf("compile the DataSchema: %w", err)
			}
			for range checksATurn {
				if err := isValid(budget.NewMeter(ctx), checker, data); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return b.compare(compared{
		row: 14, limit: 1.3, repeats: often, against: check(0), measured: check(groupCount),
		what: fmt.Sprintf("check a document of %.1f KB with %d property groups, to without",
			float64(len(data))/1000, groupCount),
	})
}

func groupedData() []byte {
	var members []string
	for i := range groupedKeys {
		members = append(members, fmt.Sprintf(`"key%d":{"host":"host-%d.example.com","port":%d}`, i, i, 1000+i))
	}
	return []byte("{" + strings.Join(members, ",") + "}")
}

// groupedSchema returns a schema with the given number of property groups, of both kinds, none of which the document
// violates.
func groupedSchema(groups int) []byte {
	var properties, rules []string
	for i := range groupedKeys {
		properties = append(properties, fmt.Sprintf(`"key%d":{"type":"object","required":["host"],"properties":{`+
			`"host":{"type":"string","minLength":1},"port":{"type":"integer","minimum":1,"maximum":65535}}}`, i))
	}
	for i := range groups {
		rules = append(rules, fmt.Sprintf([]string{
			`{"AND":[["key%d","host"],["key%d","port"]]}`,
			`{"OR":[["other%d"],["key%d"]]}`,
			`{"XOR":[["key%d","host"],["other%d"],{"AND":[["other"],["more"]]}]}`,
		}[i%3], i, i+1))
	}
	text := `{"type":"object","properties":{` + strings.Join(properties, ",") + "}"
	if groups > 0 {
		text += `,"properties_groups_schema":[` + strings.Join(rules, ",") + "]"
	}
	return []byte(text + "}")
}
