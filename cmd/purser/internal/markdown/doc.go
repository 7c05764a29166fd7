// Package markdown writes a page of Markdown about texts of others, such as the comment of a pull request: a head and
// sections with items, which may have differences.
//
// Invariants:
//   - Whatever the texts are, they are in code spans and code blocks, and in URLs as percent-encoded letters: they make
//     no markup, HTML, links or mentions, and no quick actions of GitLab, which begin a line.
//   - A page is as long as the caller permits, in characters as Markdown of GitHub counts them at most. It is cut at
//     whole items and lines, and says how many are left out.
package markdown
