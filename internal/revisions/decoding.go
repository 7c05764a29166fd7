package revisions

import (
	"strconv"
	"strings"

	"purser/internal/fault"
)

// decodeFaults are the ways in which one segment can fail; at most one is set.
type decodeFaults struct {
	parse   error
	invalid bool
	sanity  error
	bucket  error // it names none
	secret  error // it is encrypted, which is looked at last
}

func (f decodeFaults) any() bool {
	return f.invalid || f.parse != nil || f.sanity != nil || f.bucket != nil || f.secret != nil
}

// firstFault picks one of several faults as the reference does: what cannot be parsed, then what is no mapping, then
// the first document that fails its sanity checks.
func (in *ingest) firstFault() error {
	var later [3]error
	var invalid []string
	for i, f := range in.faults {
		if f.parse != nil {
			return f.parse
		}
		if f.invalid {
			invalid = append(invalid, strconv.Itoa(in.segments[i].Index))
		}
		for kind, err := range [...]error{f.sanity, f.bucket, f.secret} {
			if later[kind] == nil {
				later[kind] = err
			}
		}
	}
	if len(invalid) > 0 {
		return invalidEntries(invalid)
	}
	for _, err := range later {
		if err != nil {
			return err
		}
	}
	return nil
}

func invalidEntries(indexes []string) error {
	const most = 100
	list := strings.Join(indexes[:min(len(indexes), most)], ",")
	if len(indexes) > most {
		list += ",…"
	}
	return fault.New(fault.Invalid, "HTTPBadRequest",
		"Expected a list of valid objects. Invalid entries found at following indexes: %s.", list)
}
