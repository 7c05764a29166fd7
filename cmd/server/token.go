package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"purser/internal/authn"
	"purser/internal/authz"
)

// tokenCommand creates tokens for --auth=tokens.
type tokenCommand struct {
	New newTokenCommand `cmd:"" help:"Create a token, add its hash to the tokens file and print the token."`
}

// newTokenCommand creates a token.
type newTokenCommand struct {
	TokensFile string    `help:"The server's tokens file; created if it does not exist." required:"" type:"path"`
	User       string    `help:"The user."                                       required:"" env:"-"`
	Role       []string  `help:"A role of the user: reader, validator, writer, admin, or one of the --policy-file; may be repeated." env:"-" sep:"none" required:""` //nolint:lll // a tag
	Project    string    `help:"The user's project."                                                  env:"-"`
	Expires    *lifetime `help:"Lifetime of the token, such as 90d or 12h; unlimited without it."         env:"-"`
}

// output is the standard output, as a type of its own for kong's bindings.
type output struct{ io.Writer }

// Run adds a token to the tokens file and prints it.
func (c *newTokenCommand) Run(stdout output, stderr io.Writer) error {
	now := time.Now()
	var expires time.Time
	if c.Expires != nil {
		expires = now.Add(time.Duration(*c.Expires))
	}
	token, entry := authn.NewToken(c.User, c.Project, c.Role, now, expires)
	if err := authn.AppendToken(c.TokensFile, entry); err != nil {
		return fmt.Errorf("--tokens-file: %w", err)
	}
	until := "does not expire"
	if !expires.IsZero() {
		until = "is valid until " + expires.UTC().Format(time.RFC3339)
	}
	fmt.Fprintf(stderr, "Token %s of %s with %s %s. It is not shown again; delete its entry in %s to revoke it.\n",
		entry.ID, c.User, strings.Join(c.Role, ", "), until, c.TokensFile)
	caller := authn.Caller{UserID: c.User, ProjectID: c.Project, Roles: c.Role}
	if rights, _ := authz.Default(authz.WithRoles).Passed(caller, authz.Target{}); len(rights) == 0 {
		fmt.Fprintf(stderr, "Only a --policy-file gives rights to %s. Roles that have rights without one:\n",
			strings.Join(c.Role, ", "))
		for _, role := range authz.Roles() {
			fmt.Fprintf(stderr, "  %-9s  %s\n", role.Name, role.Rights)
		}
	}
	fmt.Fprintln(stdout, token)
	return nil
}

// lifetime is a duration that may also be written in days.
type lifetime time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *lifetime) UnmarshalText(text []byte) error {
	const day, maxDays = 24 * time.Hour, 100 * 365
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n <= 0 || n > maxDays {
			return errors.New("expected a number of days such as 90d")
		}
		*l = lifetime(n) * lifetime(day)
		return nil
	}
	duration, err := time.ParseDuration(string(text))
	if err != nil || duration <= 0 {
		return errors.New("expected a duration such as 90d or 12h")
	}
	*l = lifetime(duration)
	return nil
}
