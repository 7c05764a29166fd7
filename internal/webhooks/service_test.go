package webhooks

import (
	"strings"
	"testing"

	"purser/internal/fault"
)

func TestService_check_longURL(t *testing.T) {
	t.Parallel()
	allowed, err := ParseAllowed([]string{"a.example"})
	if err != nil {
		t.Fatal(err)
	}
	service := NewService(Config{Allowed: allowed, Vault: namedVault{}})
	longest := "https://a.example/" + strings.Repeat("x", maxURL-len("https://a.example/"))
	if err := service.check(longest, ""); err != nil {
		t.Errorf("the longest URL: %v", err)
	}
	if err := service.check(longest+"x", ""); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a longer URL: %v", err)
	}
}
