package main

import "time"

// compared is work that should not take much longer than other work.
type compared struct {
	row  int
	what string
	against,
	measured func() error
	before  func() error // untimed preparation before each side of a turn; nil for none
	limit   float64      // 0 if there is no target
	repeats int          // turns in each round; 0 for the default, which suits milliseconds
}

// turn is one measurement of each side of a comparison.
type turn struct{ against, measured time.Duration }

// compareAll makes comparisons one after the other.
func (b *bench) compareAll(pairs []compared) error {
	for _, pair := range pairs {
		if err := b.compare(pair); err != nil {
			return err
		}
	}
	return nil
}

// compare measures both sides in turns and adds their ratio to the table.
func (b *bench) compare(pair compared) error {
	const usual = 6
	if pair.repeats == 0 {
		pair.repeats = usual
	}
	warmUp := pair.repeats
	turns := make([]turn, warmUp+b.rounds*pair.repeats)
	for i := range turns {
		if err := turns[i].measure(pair, i%2 == 0); err != nil {
			return err
		}
	}
	turns = turns[warmUp:]
	quotient := medianOf(turns, func(t turn) float64 { return ratio(t.measured, t.against) })
	details := short(medianOf(turns, func(t turn) time.Duration { return t.measured })) + ", " +
		short(medianOf(turns, func(t turn) time.Duration { return t.against }))
	if pair.limit == 0 {
		b.infof(pair.row, pair.what, "%.2fx  (%s)", quotient, details)
		return nil
	}
	b.atMost(pair.row, quotient, pair.limit, pair.what, details)
	return nil
}

// measure times both sides. The order alternates, because the second side finds warm caches, or garbage to collect.
func (t *turn) measure(pair compared, againstFirst bool) (err error) {
	if againstFirst {
		if t.against, err = pair.time(pair.against); err != nil {
			return err
		}
	}
	if t.measured, err = pair.time(pair.measured); err != nil || againstFirst {
		return err
	}
	t.against, err = pair.time(pair.against)
	return err
}

func (c compared) time(side func() error) (time.Duration, error) {
	if c.before != nil {
		if err := c.before(); err != nil {
			return 0, err
		}
	}
	return timed(side)
}
