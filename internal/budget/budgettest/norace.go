//go:build !race

package budgettest

// race reports whether the race detector slows tests down.
const race = false
