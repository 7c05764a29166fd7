package words

import "strings"

// Nearest returns the candidate that is most similar to a word, whatever the case of letters. It returns the first if
// several are, or "" if none is similar.
func Nearest(word string, candidates []string) string {
	const maxLength = 60 // longer words are seldom misspelt and slow to compare
	best, nearest, lower := "", len(word)/3+1, strings.ToLower(word)
	for _, candidate := range candidates {
		longer := max(len(word), len(candidate))
		if longer > maxLength || longer-min(len(word), len(candidate)) >= nearest {
			continue
		}
		if d := distance(lower, strings.ToLower(candidate)); d < nearest {
			best, nearest = candidate, d
		}
	}
	return best
}

// distance returns the number of bytes that must be changed, added, deleted or swapped with their neighbour to turn one
// string into the other (the optimal string alignment distance).
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	above, last, row := rows[0], rows[1], rows[2]
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], above[j-1]+1)
			}
		}
		above, last, row = last, row, above
	}
	return last[len(b)]
}
