package changes

import (
	"crypto/sha256"
	"io"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/puppet"
)

// checkOverrides returns the problems of overrides of Puppet resources and of the types that documents describe, each
// with the position of its document. It remembers those of each document, so that a change costs the work on the
// documents that it affects. The error is the meter's.
func (r Renderer) checkOverrides(meter *budget.Meter, documents []puppet.Document) ([]puppet.Problem, error) {
	types, ofTypes, err := r.describedTypes(meter, documents)
	if err != nil {
		return nil, err
	}
	var found puppet.Problems
	for i, doc := range documents {
		if doc.Schema != puppet.OverrideKind {
			continue
		}
		problems, err := r.problemsOf(meter, doc, types, !found.Full())
		if err != nil {
			return nil, budget.About(err, "check the overrides of document %s", doc.Identity)
		}
		found.Append(problems, i)
	}
	for i, problems := range ofTypes {
		found.Append(puppet.NewProblems(problems), i)
	}
	return found.All(), nil
}

// described are the types that documents describe.
type described struct {
	documents map[string]puppet.Document // by canonical name of the type
	all       document.Digest            // of the documents
	names     document.Digest            // of the names of the types
	named     *puppet.Types              // only to suggest their names
}

// aboutType is what is remembered about a document that describes a type.
type aboutType struct {
	name     string // canonical; "" if it has none
	problems []puppet.Problem
}

// describedTypes returns the types that documents describe, and the problems of each document.
func (r Renderer) describedTypes(meter *budget.Meter, documents []puppet.Document) (
	types described, problems [][]puppet.Problem, err error,
) {
	types.documents, problems = map[string]puppet.Document{}, make([][]puppet.Problem, len(documents))
	all, names := sha256.New(), sha256.New()
	var named []*puppet.Type
	for i, doc := range documents {
		if doc.Schema != puppet.TypeKind {
			continue
		}
		about, known := derived[aboutType](r.Documents, r.keyOfPuppet(ofType, doc))
		if !known {
			if _, about, err = r.readType(meter, doc); err != nil {
				return types, nil, err
			}
		}
		if problems[i] = about.problems; about.name != "" {
			types.documents[about.name] = doc
			named = append(named, &puppet.Type{Name: about.name, Secret: doc.Secret})
			write(all, doc)
			_, _ = names.Write([]byte(about.name + "\n"))
		}
	}
	types.all, types.names = document.Digest(all.Sum(nil)), document.Digest(names.Sum(nil))
	types.named = puppet.NewTypes(named)
	return types, problems, nil
}

func (r Renderer) keyOfPuppet(what string, doc puppet.Document) derivedKey {
	return r.keyOf(what, doc.Key, doc.Secret)
}

// write writes what identifies a document to a hash.
func write(to io.Writer, doc puppet.Document) {
	secret := byte(0)
	if doc.Secret {
		secret = 1
	}
	_, _ = to.Write(append(doc.Key[:], secret)) // a hash returns no error
}

// readType reads a document that describes a type.
func (r Renderer) readType(meter *budget.Meter, doc puppet.Document) (*puppet.Type, aboutType, error) {
	own := r.meterFor(meter, doc.Identity, doc.Data).ForDocument(len(doc.Data))
	described, problems, err := doc.Type(own)
	if err = own.Done(err); err != nil {
		return nil, aboutType{}, budget.About(err, "read the type that document %s describes", doc.Identity)
	}
	about := aboutType{problems: problems}
	if described != nil {
		about.name = described.Name
		const bytesPerByte = 10
		r.Documents.remember(r.keyOfPuppet(compiledType, doc), described, bytesPerByte*len(doc.Data))
	}
	r.Documents.remember(r.keyOfPuppet(ofType, doc), about, len(about.name)+sizeOfProblems(problems))
	return described, about, nil
}

// compiled returns the types with these names, which documents describe.
func (r Renderer) compiled(meter *budget.Meter, types described, names []string) (*puppet.Types, error) {
	var of []*puppet.Type
	for _, name := range names {
		doc := types.documents[name]
		one, known := derived[*puppet.Type](r.Documents, r.keyOfPuppet(compiledType, doc))
		if !known {
			var err error
			if one, _, err = r.readType(meter, doc); err != nil {
				return nil, err
			}
		}
		of = append(of, one)
	}
	return types.named.Only(of), nil
}

// used returns the names of the types in an instance that documents describe, and whether it has unknown ones.
func (d described) used(in puppet.Instance) (names []string, unknown bool) {
	for _, name := range in.UsedTypes() {
		if _, ok := d.documents[name]; ok {
			names = append(names, name)
		} else {
			unknown = unknown || !puppet.IsOwn(name)
		}
	}
	return names, unknown
}

// aboutOverride is what is remembered about a document with overrides.
type aboutOverride struct {
	uses     []string        // the names of types that documents describe
	guesses  bool            // it uses unknown types, for which messages suggest others
	by, all  document.Digest // of the documents that describe the types it uses, and of all that describe types
	problems puppet.Problems
	listed   bool // the problems are not only counted
}

// problemsOf returns the problems of a document with overrides. They are only counted if there is no room to list them.
func (r Renderer) problemsOf(meter *budget.Meter, doc puppet.Document, types described, room bool) (
	puppet.Problems, error,
) {
	key := r.keyOfPuppet(ofOverride, doc)
	about, known := derived[aboutOverride](r.Documents, key)
	if known && about.all == types.all && (about.listed || !room) {
		return about.problems, nil
	}
	if !known || about.by != types.describing(about) || room && !about.listed {
		var err error
		if about, err = r.checkOverride(meter, doc, types); err != nil {
			return puppet.Problems{}, err
		}
		if about.listed = room; !room {
			about.problems = about.problems.Counted()
		}
		about.by = types.describing(about)
	}
	about.all = types.all
	size := sizeOfProblems(about.problems.List)
	for _, name := range about.uses {
		size += len(name) + stringSize
	}
	r.Documents.remember(key, about, size)
	return about.problems, nil
}

// describing returns a digest of the documents that describe the types on which the problems of overrides depend.
func (d described) describing(about aboutOverride) document.Digest {
	sum := sha256.New()
	for _, name := range about.uses {
		write(sum, d.documents[name])
	}
	if about.guesses {
		_, _ = sum.Write(d.names[:])
	}
	return document.Digest(sum.Sum(nil))
}

// tooManyOverrides is the problem of a document that exceeds the limit of work on one document.
const tooManyOverrides = "The overrides are not checked any further, because that takes too much work: write several " +
	"documents, or simplify the types"

// checkOverride checks a document with overrides.
func (r Renderer) checkOverride(meter *budget.Meter, doc puppet.Document, types described) (
	about aboutOverride, err error,
) {
	own := r.meterFor(meter, doc.Identity, doc.Data).ForDocument(len(doc.Data))
	in, _, form, err := doc.Instance(own)
	if err == nil {
		about.uses, about.guesses = types.used(in)
		var compiled *puppet.Types
		if compiled, err = r.compiled(meter, types, about.uses); err != nil {
			return about, err
		}
		about.problems, err = puppet.Check(own, in, compiled)
	}
	if err = own.Done(err); budget.IsAlone(err) {
		about.problems = puppet.NewProblems([]puppet.Problem{{Message: tooManyOverrides, Secret: doc.Secret}})
		return about, nil
	}
	all := puppet.NewProblems(form)
	all.Append(about.problems, 0)
	about.problems = all
	return about, err
}

// What is remembered about a document.
const (
	ofType       = "Puppet type"
	compiledType = "compiled Puppet type"
	ofOverride   = "Puppet overrides"
)

// stringSize is the memory of a string besides its text.
const stringSize = 16

func sizeOfProblems(problems []puppet.Problem) (size int) {
	const each = 80
	for _, problem := range problems {
		size += each + len(problem.Message)
		for _, key := range problem.Path {
			size += stringSize + len(key)
		}
	}
	return size
}
