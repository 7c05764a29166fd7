package fault

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFault_Error(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]*Fault{
		"not found":    New(NotFound, "HTTPNotFound", "not %s", "found"),
		"HTTPNotFound": New(NotFound, "HTTPNotFound", ""),
	} {
		if got := f.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A hint follows the fault's own message, and is as secret as the fault.
func TestFault_Hint(t *testing.T) {
	t.Parallel()
	for _, secret := range []bool{false, true} {
		f := New(NotFound, "HTTPNotFound", "not found")
		f.Secret = secret
		want := []Message{
			{Message: "not found", Error: true, Secret: secret}, {Message: "look at 1", Error: true, Secret: secret},
		}
		if diff := cmp.Diff(want, f.Hint("look at %d", 1).Messages); diff != "" {
			t.Errorf("secret %v (-want +got)\n%s", secret, diff)
		}
		want = append(want, Message{Message: "GET /2", Error: true, Secret: secret, Kind: RequestHint})
		if diff := cmp.Diff(want, f.RequestHint("GET /%d", 2).Messages); diff != "" {
			t.Errorf("secret %v (-want +got)\n%s", secret, diff)
		}
	}
}
