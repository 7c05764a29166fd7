package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
)

// files have the statements. Each begins with a line "-- name: X" and ends with a semicolon; comments may follow its
// name. Its arguments are written like the variables of psql, where they may be set to try it:
//
//	\set site '\'default\''
//	UPDATE sites SET prunes = prunes + 1 WHERE site = :site;
//
// In Go, a value of type named binds them:
//
//	tx.Exec(ctx, stmt.CountPrune, named{"site": s.site})
//
//go:embed sql/*.sql
var files embed.FS

// stmt has the texts of the statements.
var stmt = mustLoad(files)

// statements are the texts of statements by their names, each as it is in its file.
type statements struct {
	// sql/site.sql
	CannotWrite, DatabaseSize, KnownDocuments, SchemaVersion, ReadHead, LockHead, LockBase, HeadAndTime, HeadAround,
	LatestRevision, LastPurge, HasRevision, SourcesOf, UpstreamsNow, BehindOf, FactsOf, Refollow, NewestRevision string

	// sql/append.sql
	CloseDocument, CloseDocuments, InsertContent, InsertDocument, InsertTexts, RereadDocuments, AddSealed,
	AddArchive, InsertChecks, InsertEntries, InsertViolations, EndViolations, ChainOf, VersionsAt, InsertRevision,
	ChangeBuckets, OpenBuckets, EmptyBuckets, AdvanceHead string

	// sql/snapshot.sql
	BucketStates, ChangedBuckets, KnownContents, AllLive, LiveSchemas, LiveVersions, LiveOfKinds, LiveRegistered,
	LiveClaims, LiveNoted, LivePositions, LiveViolations, FailingDocuments, NewestOccupied, NewestFallback,
	ChecksByContent, ChecksByPair, LivePolicies string

	// sql/documents.sql
	FallbackPolicy, VersionsByID, ContentsByDigest, ArchiveOf, OutdatedSecrets, CountSecrets, SitesToReseal, ResealContent,
	OccupiedBuckets, StampsOf, OnlyOlder, OnlyNewer, OnlyTarget, OnlyNewest, Boundaries, Buckets, CleartextBuckets,
	RecentKinds string

	// sql/texts.sql
	OriginsOf, TextBlocks, OutdatedTexts, ResealText string

	// sql/entries.sql
	Failures, FailedEntries, StrayEntries string

	// sql/evidence.sql
	TagsOf, TaggedRevision, SetTag, DeleteTags, AddResults, InsertReported, InsertResult, CarryResults,
	InputsOf, HeldResults, CopyHeld, CarryHeld, SettledHead,
	CarriedOutcomes, RevisionsAbout, PoliciesAbout, OutcomesAbout, StandingAbout, VotesAbout, SiteState, ReportedOf,
	TextsOfResults,
	WorstResults string

	// sql/waivers.sql
	AddWaiver, EndWaiver, CarryWaivers, WaiversOf, AllWaivers, ActiveWaivers, CountWaivers string
	// sql/claims.sql
	SelectWork, ListWork, ClaimWork, FindClaim, ExtendClaim, GiveBack, RequestWork, ResultOfClaim, CountWork string

	// sql/everywhere.sql
	OfferedWork, WorkOfSites, WaiversOfSites string

	// sql/events.sql
	InsertEvent, InsertPurgeEvent, InsertAudit, SitesWithNews, SitesDue, FeedPosition, LockFeed, OutboxBatch,
	BatchVerdicts, InsertEvents, DeleteOutbox, AdvanceFeed, SetSiteStatus, UpsertVerdicts, DropVerdicts, FeedBounds,
	SelectEvents, DeleteOldEvents string

	// sql/webhooks.sql
	SelectWebhooks, EnabledWebhooks, InsertWebhook, UpdateWebhook, DisableWebhook, ResealWebhook, DeleteWebhook,
	SelectDeliveries, SelectDelivery string

	// sql/deletion.sql
	PrunableRevisions, CountPrunable, LockPrunable, PruneRevisions, CountPrune, CountRevisions, CountUnneeded,
	UnneededSecrets,
	SecretsAfter, SweepDocuments, SweepTexts, SweepEntries, SweepViolations, SweepOccupancies, Orphans, PruneContents,
	FailedChecks, OtherChecks, PruneChecks, ResetSite, LockRevisions string

	// sql/sites.sql
	SettingsOf, LockSettings, FindSite, SiteNames, SitesWithLabels, CountSites, InsertSite, LockMaking, TooManySites,
	InsertFeed, UpdateSite,
	MarkSite, MarkedSites, LockMarked, CountDeleted, DeleteSite string

	// sql/transfer.sql
	SealedWith, AdvanceIDs, RenumberAudit string

	positional map[string]positional // by text
}

// positional is a statement as Postgres takes it: with numbers for arguments.
type positional struct {
	sql       string
	arguments []string // by their numbers, from 1 on
}

var (
	statementText = regexp.MustCompile(`(?m)^-- name: (\w+)\n(?:--.*\n)*((?s:.*?));$`)
	argumentName  = regexp.MustCompile(`::?[a-z_]+`) // or a cast
)

// mustLoad reads statements. It panics unless the files have those of the fields, and no others.
func mustLoad(files fs.FS) (all statements) {
	texts := map[string]string{}
	names, _ := fs.Glob(files, "sql/*.sql") // fails for malformed patterns only
	for _, name := range names {
		file, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		for _, found := range statementText.FindAllStringSubmatch(string(file), -1) {
			texts[found[1]] = found[2]
		}
	}
	all.positional = make(map[string]positional, len(texts))
	for field, value := range reflect.ValueOf(&all).Elem().Fields() {
		if text, ok := texts[field.Name]; ok {
			value.SetString(text)
			all.positional[text] = number(text)
			delete(texts, field.Name)
		} else if field.IsExported() {
			panic("there is no statement " + field.Name)
		}
	}
	for name := range texts {
		panic("no field has the statement " + name)
	}
	return all
}

// number replaces the names of arguments by numbers.
func number(text string) (p positional) {
	numbers := map[string]string{}
	p.sql = argumentName.ReplaceAllStringFunc(text, func(name string) string {
		if strings.HasPrefix(name, "::") {
			return name
		}
		if numbers[name] == "" {
			p.arguments = append(p.arguments, name[1:])
			numbers[name] = fmt.Sprint("$", len(p.arguments))
		}
		return numbers[name]
	})
	return p
}

// named are the arguments of a statement by their names.
type named map[string]any

// RewriteQuery implements pgx.QueryRewriter.
func (n named) RewriteQuery(_ context.Context, _ *pgx.Conn, text string, _ []any) (sql string, args []any, err error) {
	p, known := stmt.positional[text]
	if !known {
		return "", nil, fmt.Errorf("no statement has the text %s", text)
	}
	args = make([]any, len(p.arguments))
	for i, name := range p.arguments {
		if args[i], known = n[name]; !known {
			return "", nil, fmt.Errorf("the argument %s is missing of %s", name, text)
		}
	}
	if len(n) > len(args) {
		return "", nil, fmt.Errorf("there are arguments besides %s of %s", strings.Join(p.arguments, ", "), text)
	}
	return p.sql, args, nil
}
