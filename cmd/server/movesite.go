package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os/user"
	"text/tabwriter"
	"time"

	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/sites"
	"purser/internal/store"
	"purser/internal/store/migration"
)

// siteCommand moves sites between databases.
type siteCommand struct {
	Export exportCommand `cmd:"" help:"Write a site to standard output, as a tar file: to move it to another database, or as its backup."`       //nolint:lll // a tag
	Import importCommand `cmd:"" help:"Add the site of such a file, from standard input, to a database in which it does not exist or is empty."` //nolint:lll // a tag
}

// movedSite is what both commands need.
type movedSite struct {
	databaseFlags `embed:""`
	logFlags      `embed:""`

	Name string `arg:"" help:"The name of the site. A site keeps its name."`
}

// withDatabase calls a function with the database.
func (m movedSite) withDatabase(ctx context.Context, log *slog.Logger, do func(*store.Database) error) error {
	if !sites.IsName(m.Name) {
		return fmt.Errorf("%q is not the name of a site", m.Name)
	}
	url, stop, err := m.open(ctx, log)
	if err != nil {
		return err
	}
	defer stop()
	if m.DatabaseURL != "" { // a private Postgres is ready
		if err := migration.Await(ctx, url, m.DatabaseWait, reasonLogger(ctx, log)); err != nil {
			return err
		}
	}
	db, err := store.Open(ctx, url, store.Options{Deadlines: store.DefaultDeadlines()})
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	defer db.Close()
	return do(db)
}

// exportCommand writes the file of a site.
type exportCommand struct {
	movedSite `embed:""`
}

// Run writes the file.
func (c *exportCommand) Run(ctx context.Context, stdout output, stderr io.Writer) error {
	err := c.withDatabase(ctx, c.logger(stderr), func(db *store.Database) error {
		out, err := db.ExportSite(ctx, c.Name, stdout, version)
		if err != nil {
			return fmt.Errorf("export %s: %w", c.Name, err)
		}
		if !out.Archived {
			fmt.Fprintf(stderr, "The site %s is not archived: what others change from now on is not in the file.\n", c.Name)
		}
		return summarize(stderr, "exported", c.Name, out.Tables)
	})
	return interrupted(ctx, err, "the file is not complete")
}

// importCommand adds the site of a file.
type importCommand struct {
	movedSite   `embed:""`
	keysetFlags `embed:""`
}

// Run reads the file.
func (c *importCommand) Run(ctx context.Context, stdin input, stderr io.Writer) error {
	log := c.logger(stderr)
	has, err := c.keys(ctx, log)
	if err != nil {
		return err
	}
	err = c.withDatabase(ctx, log, func(db *store.Database) error {
		moved, err := db.ImportSite(ctx, c.Name, until(ctx, stdin), store.Import{
			HasKey: has, Audit: &revisions.AuditEvent{
				At: time.Now(), UserName: operator(), Rule: "purser:manage_sites", Method: "PUT", Status: 201,
			},
		})
		if err != nil {
			return fmt.Errorf("import %s: %w", c.Name, err)
		}
		return summarize(stderr, "imported", c.Name, moved)
	})
	return interrupted(ctx, err, "nothing was imported")
}

// keys returns a function that reports whether the keyset has a key. Unlike a server, an import makes no keyset: it
// would be in the way of the right one.
func (c *importCommand) keys(ctx context.Context, log *slog.Logger) (has func(uint32) bool, err error) {
	flags := c.keysetFlags
	flags.SecretsKeyset = cmp.Or(flags.SecretsKeyset, c.defaultKeyset())
	vault, _, err := flags.open(ctx, "", log)
	missing := errors.Is(err, fs.ErrNotExist) && c.SecretsKeyset == ""
	if err != nil && !missing {
		return nil, err
	}
	if keyring, ok := vault.(*secrets.Keyring); ok && !missing {
		return keyring.Has, nil
	}
	return func(uint32) bool { return false }, nil
}

// input is the standard input, as a type of its own for kong's bindings.
type input struct{ io.Reader }

// until returns a reader that fails when ctx ends, even if the other one does not return.
func until(ctx context.Context, r io.Reader) io.Reader {
	read, write := io.Pipe()
	context.AfterFunc(ctx, func() { _ = read.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.Copy(write, r)
		_ = write.CloseWithError(err)
	}()
	return read
}

// operator returns the name of the user who runs the program.
func operator() string {
	if who, err := user.Current(); err == nil {
		return cmp.Or(who.Username, who.Uid)
	}
	return "operator"
}

// interrupted returns the error to end with: one that is not taken for a server that was stopped, and says what is
// there.
func interrupted(ctx context.Context, err error, outcome string) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted: %s", outcome)
	}
	return fmt.Errorf("%w; %s", err, outcome)
}

// summarize prints what was moved.
func summarize(w io.Writer, done, site string, tables []store.MovedTable) error {
	const padding = 2
	var rows, bytes int64
	table := tabwriter.NewWriter(w, 0, 0, padding, ' ', tabwriter.AlignRight)
	for _, one := range tables {
		rows, bytes = rows+one.Rows, bytes+one.Bytes
		if one.Rows > 0 {
			fmt.Fprintf(table, "%s\t%d rows\t%d bytes\t\n", one.Name, one.Rows, one.Bytes)
		}
	}
	fmt.Fprintf(table, "all\t%d rows\t%d bytes\t\n", rows, bytes)
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print what was moved: %w", err)
	}
	fmt.Fprintf(w, "%s the site %s\n", done, site)
	return nil
}
