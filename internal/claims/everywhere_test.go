package claims_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/claims"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	offers := []claims.Offer{
		{Site: "a", Validation: "v", Works: 5},
		{Site: "b", Validation: "v", Works: 1},
		{Site: "b", Validation: "w", Works: 1},
		{Site: "c", Validation: "v", Works: 2},
	}
	anywhere := func(names ...string) claims.Look { return claims.Look{Names: names} }
	among := func(at ...claims.SiteName) claims.Look { return claims.Look{Names: []string{"v", "w"}, Among: at} }
	in := func(site, name string) claims.SiteName { return claims.SiteName{Site: site, Validation: name} }
	for name, c := range map[string]struct {
		offers []claims.Offer
		looks  []claims.Look
		turn   int
		want   []string
	}{
		"none":        {nil, []claims.Look{anywhere("v")}, 0, []string{""}},
		"no worker":   {offers, nil, 0, []string{}},
		"other names": {offers, []claims.Look{anywhere("x")}, 7, []string{""}},
		"in turn": {
			offers, []claims.Look{
				anywhere("v"), anywhere("v"), anywhere("v"), anywhere("v"), anywhere("v"), anywhere("v"), anywhere("v"),
				anywhere("v"), anywhere("v"),
			}, 0, []string{"a", "b", "c", "a", "c", "a", "a", "a", ""},
		},
		"several names": {
			offers, []claims.Look{anywhere("w", "v"), anywhere("w", "v"), anywhere("w")}, 0, []string{"b", "a", ""},
		},
		"another turn": {offers, []claims.Look{anywhere("w", "v"), anywhere("w", "v")}, 1, []string{"a", "b"}},
		"among":        {offers, []claims.Look{among(in("b", "v")), among(in("b", "v")), among([]claims.SiteName{}...)}, 0, []string{"b", "", ""}},
		"among, in turn": {
			offers, []claims.Look{among(in("a", "v"), in("c", "v")), among(in("a", "v"), in("c", "v"))}, 1, []string{"c", "a"},
		},
		"among and anywhere": {
			offers,
			[]claims.Look{among(in("a", "w"), in("b", "w")), anywhere("w"), among(in("c", "v")), anywhere("v")},
			0,
			[]string{"b", "", "c", "a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, claims.Spread(c.offers, c.looks, c.turn)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
