// Package folder converts between documents in local files and those that a server takes and returns.
//
//	files, folders, standard input ──Read, ReadChangeSet──► Body ──► a change; Body.Place leads back to the files
//	documents as they were submitted ──PlanPull──► Pull ──Write──► files, in a folder for each bucket
//	documents of a server ──Parse──► []Document ──Body.Differences──► unified diffs
//
// Invariants:
//   - What Pull.Write has written, ReadChangeSet reads as the same documents in the same buckets.
//   - A pull deletes and replaces only files that a pull has written and that are still the same, and nothing outside
//     its folder.
//   - A file goes to the server as it is, and comes back as it was.
//   - Folders are searched as by purser check, under the same .purser.yaml.
//   - Nothing that is shown has data of an encrypted document or the name of one of its keys.
package folder
