// Package folder converts between documents in local files and those that a server takes and returns.
//
//	files, folders, standard input ──Read, ReadChangeSet──► Body ──► a change; Body.Place leads back to the files
//	documents of a server ──Parse──► []Document ──PlanPull──► Pull ──Write──► files, in a folder for each bucket
//	                                      └──Body.Differences──► unified diffs
//
// Invariants:
//   - What Pull.Write has written, ReadChangeSet reads as the same documents in the same buckets.
//   - A pull deletes and replaces only files that hold nothing but documents, and nothing outside its folder.
//   - A document goes to the server as it stands in its file, unless that depends on other parts of the file.
//   - Folders are searched as by purser check, under the same .purser.yaml.
//   - Nothing that is shown has data of an encrypted document or the name of one of its keys.
package folder
