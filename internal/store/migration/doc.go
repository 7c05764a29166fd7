// Package migration brings a database up to this version of Purser, and waits for one that does not answer yet.
package migration
