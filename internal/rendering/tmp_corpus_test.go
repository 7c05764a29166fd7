package rendering

import (
	"os"
	"testing"

	"purser/internal/document"
)

func corpus(b testing.TB, site string) (documents []*document.Document) {
	text, err := os.ReadFile("/work/shared/corpus/" + site + "/documents.yaml")
	if err != nil {
		b.Skip(err)
	}
	segments, _ := document.Split(text, document.YAML, document.DefaultLimits())
	for _, s := range segments {
		e, _ := document.Decode(s, document.DefaultLimits())
		d, _ := document.New(e)
		documents = append(documents, d)
	}
	return documents
}

func BenchmarkCorpus(b *testing.B) {
	documents := corpus(b, "tm19-airskiff")
	b.Run("render", func(b *testing.B) {
		for b.Loop() {
			if _, err := Render(b.Context(), documents, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse all", func(b *testing.B) {
		for b.Loop() {
			for _, d := range documents {
				document.ParseJSON(d.Data)
				document.ParseJSON(d.Metadata)
			}
		}
	})
	b.Run("parse metadata", func(b *testing.B) {
		for b.Loop() {
			for _, d := range documents {
				document.ParseJSON(d.Metadata)
			}
		}
	})
	r := newRun(b.Context(), Options{Limit: DefaultLimit})
	order, _ := r.plan(documents)
	for _, n := range order {
		r.compute(n)
	}
	parsed, unparsed := 0, 0
	for _, n := range order {
		if n.read {
			parsed++
		} else {
			unparsed += len(n.document.Data)
		}
	}
	b.Log(len(order), parsed, unparsed, DefaultLimit-r.room, mostWork-r.work)
}
