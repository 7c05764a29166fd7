// Package postgres calls Postgres for the store: with a deadline for each call, few connections that are shared
// fairly, and retries after conflicts with other transactions. Rows are counted in the budget of the request that
// they are read for. Errors that pass, or that an operator has to see to, are faults of kind Unavailable that say so.
package postgres
