package main

import (
	"purser/internal/metrics"
	"purser/internal/store"
)

// poolOf returns a function that returns the state of a store's connection pool.
func poolOf(s *store.Database) func() metrics.Pool {
	return func() metrics.Pool {
		stat := s.Stat()
		return metrics.Pool{
			Idle: stat.IdleConns(), Used: stat.AcquiredConns(), Max: stat.MaxConns(),
			Waits: stat.EmptyAcquireCount(), Waited: stat.EmptyAcquireWaitTime(),
		}
	}
}
