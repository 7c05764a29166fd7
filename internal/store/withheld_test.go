package store_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/validations"
)

// The migration writes the same data as the server since then.
func TestMigration_withheld(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../migrations/0008_withheld.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	secret := validations.Concealed([]validations.Finding{{Message: "x", Secret: true}})
	finding, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	message, err := json.Marshal(authz.Viewer{}.Messages([]fault.Message{{Message: "x", Secret: true}}))
	if err != nil {
		t.Fatal(err)
	}
	message = bytes.ReplaceAll(message, []byte(authz.Withheld), []byte(authz.WithheldBefore))
	sql := strings.NewReplacer("'\n        || '", "", `' || w.message || '`, authz.WithheldBefore).Replace(string(text))
	for _, want := range []string{string(finding), string(message), authz.WithheldBefore} {
		if !strings.Contains(sql, want) {
			t.Errorf("the migration does not write %s", want)
		}
	}
}
