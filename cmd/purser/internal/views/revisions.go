package views

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"purser/internal/wire"
	"purser/internal/words"
)

// Revisions returns a list of revisions.
func Revisions(items []json.RawMessage) (Answer, error) {
	revisions, err := decodeAll[wire.Revision](items)
	if err != nil {
		return Answer{}, err
	}
	rows, names := [][]string{{"REVISION", "STATUS", "AT", "USER", "BUCKETS", "TAGS", "MESSAGE"}}, []string{}
	for _, r := range revisions {
		what := string(r.Message)
		if r.RolledBackTo != nil {
			what = strings.TrimSuffix(fmt.Sprintf("rollback to %d: %s", *r.RolledBackTo, what), ": ")
		}
		names = append(names, strconv.FormatInt(r.ID, 10))
		rows = append(rows, []string{
			strconv.FormatInt(r.ID, 10), verdictWord(r.Status), moment(r.CreatedAt), dash(r.User),
			dash(strings.Join(r.Buckets, ",")), dash(strings.Join(r.Tags.Names, ",")), what,
		})
	}
	return Answer{listText(items), names, table(rows)}, nil
}

// History returns the changes of a document, with their differences.
func History(items []json.RawMessage, colors bool) (Answer, error) {
	changes, err := decodeAll[wire.DocumentChange](items)
	if err != nil {
		return Answer{}, err
	}
	var names []string
	var b strings.Builder
	for _, change := range changes {
		names = append(names, strconv.FormatInt(change.Revision, 10))
		fmt.Fprintln(&b, words.Line(fmt.Sprintf("revision %d  %s  %s  %s  %s", change.Revision, moment(change.ChangedAt),
			dash(change.User), change.Change, change.Message)))
		b.WriteString(indented(change.Diff, colors))
	}
	return Answer{listText(items), names, b.String()}, nil
}

// Tags returns the tags of revisions, each with the newest revision that has it. The newest revisions come first.
func Tags(items []json.RawMessage) (Answer, error) {
	revisions, err := decodeAll[wire.Revision](items)
	if err != nil {
		return Answer{}, err
	}
	newest := map[string]wire.Revision{}
	for _, revision := range slices.Backward(revisions) {
		for _, tag := range revision.Tags.Names {
			newest[tag] = revision
		}
	}
	rows, numbers := [][]string{{"TAG", "REVISION", "STATUS", "AT"}}, map[string]int64{}
	tags := slices.Sorted(maps.Keys(newest))
	for _, tag := range tags {
		r := newest[tag]
		numbers[tag] = r.ID
		rows = append(rows, []string{tag, strconv.FormatInt(r.ID, 10), verdictWord(r.Status), moment(r.CreatedAt)})
	}
	return Answer{marshal(numbers), tags, table(rows)}, nil
}

// Tagged returns the result of setting or deleting a tag.
func Tagged(tag string, revision wire.Revision, deleted bool) Answer {
	did := "Tagged"
	if deleted {
		did = "No longer tagged"
	}
	return Answer{
		JSON:  marshal(map[string]any{"tag": tag, "revision": revision.ID, "deleted": deleted}),
		Names: []string{tag},
		Text:  fmt.Sprintf("%s %s: revision %d\n", did, words.Line(tag), revision.ID),
	}
}

// Pulled returns the result of writing the documents of a revision to files in a folder.
func Pulled(revision wire.Revision, files []string, dir string) Answer {
	return Answer{
		JSON:  marshal(map[string]any{"revision": revision.ID, "stamp": revision.Stamp, "files": files}),
		Names: []string{strconv.FormatInt(revision.ID, 10)},
		Text:  fmt.Sprintf("Revision %d: %s in %s\n", revision.ID, words.Count(len(files), "document"), dir),
	}
}
