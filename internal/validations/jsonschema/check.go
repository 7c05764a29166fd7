package jsonschema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
)

// Check returns every violation, in an order that depends on schema and data alone; nil if the data passes. data is
// compact JSON text whose keys are in the order they were written. Of more than 100 violations the first 99 are
// returned, and one that says how many more there were. Safe for concurrent use.
//
// Text that is no JSON, that is nested deeper than 100 levels or that would take this schema too long is one violation.
func (s *Schema) Check(data []byte) []Finding {
	plain, w, err := decode(data)
	if err != nil {
		return unchecked(err)
	}
	return s.check(plain, w, func() (*value, error) { return parse(data, -1) })
}

var errTooLong = errors.New("it is too large for a schema with so many alternatives")

func unchecked(err error) []Finding {
	return []Finding{{Message: "the data cannot be checked: " + err.Error(), Instance: []string{}, SchemaPath: "."}}
}

// check is Check for decoded data; tree gives the same data as an ordered tree, which only violations need.
func (s *Schema) check(plain any, w *weight, tree func() (*value, error)) []Finding {
	if s.costs.time(w) > maxTime {
		return unchecked(errTooLong)
	}
	violations, err := s.validate(plain)
	if err == nil && len(violations) == 0 {
		return nil
	}
	var root *value
	if err == nil {
		root, err = tree()
	}
	if err != nil {
		return unchecked(err)
	}
	return s.describe(violations, root)
}

// validate runs the library and returns the violations it found.
func (s *Schema) validate(plain any) ([]*santhosh.ValidationError, error) {
	var violations []*santhosh.ValidationError
	if s.dangling {
		s.alone.Lock()
		defer func() {
			s.reached = nil
			s.alone.Unlock()
		}()
	}
	err := s.library.Validate(plain)
	var found *santhosh.ValidationError
	switch {
	case errors.As(err, &found):
		violations = leaves(found, nil)
	case err != nil:
		return nil, fmt.Errorf("validate: %w", err)
	}
	if s.dangling {
		violations = append(violations, s.reached...)
	}
	slices.SortStableFunc(violations, order) // those of one added keyword come in its order
	return violations, nil
}

// leaves appends the violations below v, which are those that no other caused.
func leaves(v *santhosh.ValidationError, to []*santhosh.ValidationError) []*santhosh.ValidationError {
	if len(v.Causes) == 0 {
		return append(to, v)
	}
	for _, cause := range v.Causes {
		to = leaves(cause, to)
	}
	return to
}

// order sorts violations by their place in the data, then by the keyword; the library goes through maps.
func order(a, b *santhosh.ValidationError) int {
	return cmp.Or(
		comparePaths(a.InstanceLocation, b.InstanceLocation),
		comparePaths(a.KeywordLocation, b.KeywordLocation),
	)
}

// comparePaths compares paths step by step, indexes as numbers.
func comparePaths(a, b string) int {
	for a != b {
		var x, y string
		x, a, _ = strings.Cut(a, "/")
		y, b, _ = strings.Cut(b, "/")
		if x == y {
			continue
		}
		i, err := strconv.Atoi(x)
		j, err2 := strconv.Atoi(y)
		if err == nil && err2 == nil && i != j {
			return cmp.Compare(i, j)
		}
		return cmp.Compare(x, y)
	}
	return 0
}

// describe puts violations of the data root into words.
func (s *Schema) describe(violations []*santhosh.ValidationError, root *value) []Finding {
	var findings []Finding
	total := 0
	for _, v := range violations {
		if len(findings) >= maxFindings && !strings.HasSuffix(v.KeywordLocation, "/required") &&
			!strings.HasSuffix(v.KeywordLocation, "/"+own) {
			total++ // only these two stand for several
			continue
		}
		at, ok := s.locate(v, root)
		if !ok {
			total++
			findings = append(findings, Finding{Message: v.Message, Instance: []string{}, SchemaPath: "."})
			continue
		}
		if len(findings) >= maxFindings || at.untold() > 0 {
			total += at.count()
			continue
		}
		said := at.words()
		total += len(said)
		for _, each := range said {
			findings = append(findings, Finding{
				Message: each, Instance: at.instance, SchemaPath: "." + strings.Join(at.schema, "."), Names: at.keyword == own,
			})
		}
	}
	return atMost(findings, total)
}

// atMost cuts findings, of which there were total, down to maxFindings.
func atMost(findings []Finding, total int) []Finding {
	if total <= maxFindings {
		return findings
	}
	const shown = maxFindings - 1
	return append(findings[:shown:shown], Finding{
		Message: fmt.Sprintf("and %d more", total-shown), Instance: []string{}, SchemaPath: ".",
	})
}
