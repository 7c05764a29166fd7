package deletion

// MaxLocked is how many rows a step of a prune may delete while it holds the site's counters.
const MaxLocked = maxLocked

// AfterStep has f called after each transaction of a prune, with the number of rows that it deleted while it held the
// site's counters. An error ends the prune, as if the server were killed.
func (s *Sweeper) AfterStep(f func(locked int) error) { s.stepped = f }
