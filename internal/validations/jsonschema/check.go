package jsonschema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	santhosh "github.com/santhosh-tekuri/jsonschema/v5"

	"purser/internal/budget"
)

// Check returns every violation, in an order that depends on schema and data alone; nil if the data passes. data is
// compact JSON text whose keys are in the order they were written. Of more than 100 violations the first 99 are
// returned, and one that says how many more there were. Text that is no JSON or that is nested deeper than 100 levels
// is one violation.
//
// What it takes is counted while it is done. The error is the meter's, as it came.
func (s *Schema) Check(meter *budget.Meter, data []byte) (findings []Finding, err error) {
	defer stopped(&err)
	w := work{meter}
	plain, extent, err := decode(w, data)
	if err != nil {
		return unchecked(err), nil
	}
	return s.check(w, plain, extent, func() (*value, error) { return parse(w, data, -1) }), nil
}

func unchecked(err error) []Finding {
	return []Finding{{Message: "the data cannot be checked: " + err.Error(), Instance: []string{}, SchemaPath: "."}}
}

// check is Check for decoded data; tree gives the same data as an ordered tree, which only violations need.
func (s *Schema) check(w work, plain any, extent extent, tree func() (*value, error)) []Finding {
	found, err := s.validate(w, plain, extent)
	if err == nil && found.total == 0 {
		return nil
	}
	var root *value
	if err == nil {
		root, err = tree()
	}
	if err != nil {
		return unchecked(err)
	}
	return s.describe(w, found, root, extent)
}

// validate runs the library and returns the violations it found.
func (s *Schema) validate(w work, plain any, extent extent) (*selection, error) {
	i, err := s.take(w)
	if err != nil {
		return nil, err
	}
	defer s.put(i)
	*i.run = run{work: w, data: extent, versions: s.versions, frames: i.run.frames[:0]}
	defer i.run.release()
	found := &selection{work: w}
	err = i.library.Validate(plain)
	if failed, ok := errors.AsType[*santhosh.ValidationError](err); ok {
		found.addLeaves(failed)
	} else if err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	for _, v := range i.run.reached {
		found.add(v)
	}
	return found, nil
}

// selection is the violations that are described: the first ones in order, since each gives a finding at least.
type selection struct {
	work

	first []*santhosh.ValidationError
	total int // findings of all of them
}

// addLeaves adds the violations below v, which are those that no other caused.
func (s *selection) addLeaves(v *santhosh.ValidationError) {
	if len(v.Causes) == 0 {
		s.add(v)
	}
	for _, cause := range v.Causes {
		s.addLeaves(cause)
	}
}

// add puts a violation at its place, after its equals: those of one added keyword come in its order.
func (s *selection) add(v *santhosh.ValidationError) {
	s.total += countOf(v)
	steps := compareSteps*(1+strings.Count(v.InstanceLocation, "/")+strings.Count(v.KeywordLocation, "/")) +
		(len(v.InstanceLocation)+len(v.KeywordLocation))/copyBytes
	s.spend(steps)
	if len(s.first) == maxFindings {
		if order(v, s.first[maxFindings-1]) >= 0 {
			return
		}
		s.first = s.first[:maxFindings-1]
	}
	s.spend(bits.Len(maxFindings) * steps)
	at, _ := slices.BinarySearchFunc(s.first, v, func(other, v *santhosh.ValidationError) int {
		return cmp.Or(order(other, v), -1)
	})
	s.first = slices.Insert(s.first, at, v)
}

// countOf returns how many findings a violation is.
func countOf(v *santhosh.ValidationError) int {
	n := 1
	switch v.KeywordLocation[strings.LastIndexByte(v.KeywordLocation, '/')+1:] {
	case "required":
		n, _ = strconv.Atoi(v.Message)
	case own:
		var said Violation
		if json.Unmarshal([]byte(v.Message), &said) == nil {
			n = said.More
		}
	}
	return max(1, n)
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
func (s *Schema) describe(w work, found *selection, root *value, extent extent) []Finding {
	var findings []Finding
	for _, v := range found.first {
		w.spend(describeSteps + (len(v.InstanceLocation)+len(v.KeywordLocation)+len(v.Message))*splitByte +
			extent.bytes/copyBytes) // a text may be searched to its end for quotes
		at, ok := s.locate(v, root)
		if !ok {
			findings = append(findings, Finding{Message: v.Message, Instance: []string{}, SchemaPath: "."})
			continue
		}
		for _, said := range at.words(w, maxFindings) {
			w.spend(len(said) * describeByte)
			findings = append(findings, Finding{
				Message: said, Instance: at.instance, SchemaPath: "." + strings.Join(at.schema, "."), Names: at.keyword == own,
			})
		}
		if len(findings) >= maxFindings {
			break
		}
	}
	return atMost(findings, found.total)
}

// atMost cuts findings, of which there were total, down to maxFindings.
func atMost(findings []Finding, total int) []Finding {
	if total <= maxFindings {
		return findings
	}
	const shown = maxFindings - 1
	return append(slices.Clip(findings[:min(shown, len(findings))]), Finding{
		Message: fmt.Sprintf("and %d more", total-shown), Instance: []string{}, SchemaPath: ".",
	})
}
