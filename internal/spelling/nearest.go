// Package spelling finds what somebody may have meant to write.
package spelling

// Nearest returns the candidate that is most similar to a word, the first of several; "" if none is similar.
func Nearest(word string, candidates []string) string {
	const maxLength = 60 // longer words are seldom misspelt and slow to compare
	best, nearest := "", len(word)/3+1
	for _, candidate := range candidates {
		if max(len(word), len(candidate)) > maxLength {
			continue
		}
		if d := distance(word, candidate); d < nearest {
			best, nearest = candidate, d
		}
	}
	return best
}

// distance returns the Levenshtein distance of two texts, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
