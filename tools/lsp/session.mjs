// Edits a site with purser lsp through the protocol library of VS Code: node tools/lsp/session.mjs bin/purser
import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {pathToFileURL} from 'node:url'
import protocol from 'vscode-languageserver-protocol/node'

const folder = mkdtempSync(join(tmpdir(), 'purser-lsp-'))
const uriOf = name => pathToFileURL(join(folder, name)).href
const host = (name, data) => `schema: acme/Host/v1
metadata: {schema: metadata/Document/v1, name: ${name}, storagePolicy: cleartext, layeringDefinition: {layer: site}}
data:
  rack: ${data}
`
writeFileSync(join(folder, 'base.yaml'), `schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: lp}
data: {layerOrder: [site]}
---
schema: deckhand/DataSchema/v1
metadata: {schema: metadata/Control/v1, name: acme/Host/v1}
data:
  $schema: http://json-schema.org/schema#
  properties: {rack: {type: integer, maximum: 40, description: The number of the rack}, role: {enum: [control, compute]}}
`)
writeFileSync(join(folder, 'other.yaml'), host('other', 41))

const server = spawn(process.argv[2], ['lsp'], {stdio: ['pipe', 'pipe', 'inherit']})
const ended = new Promise(resolve => server.on('exit', resolve))
const connection = protocol.createProtocolConnection(
  new protocol.StreamMessageReader(server.stdout), new protocol.StreamMessageWriter(server.stdin))
connection.onError(error => { throw error })

// published waits until the diagnostics of a file have these codes.
const shown = new Map()
const waiting = new Set()
connection.onNotification(protocol.PublishDiagnosticsNotification.type, params => {
  shown.set(params.uri, params.diagnostics)
  for (const check of waiting) check()
})
const published = (name, ...codes) => new Promise(resolve => {
  const check = () => {
    const found = shown.get(uriOf(name)) ?? []
    if (JSON.stringify(found.map(d => d.code)) !== JSON.stringify(codes)) return
    waiting.delete(check)
    resolve(found)
  }
  waiting.add(check)
  check()
})
let watches = 0
connection.onRequest(protocol.RegistrationRequest.type, params => { watches = params.registrations.length })
connection.listen()

const {capabilities, serverInfo} = await connection.sendRequest(protocol.InitializeRequest.type, {
  processId: process.pid, rootUri: null, workspaceFolders: [{name: 'site', uri: pathToFileURL(folder).href}],
  capabilities: {workspace: {didChangeWatchedFiles: {dynamicRegistration: true}}},
})
assert.equal(serverInfo.name, 'purser')
assert.equal(capabilities.textDocumentSync.change, protocol.TextDocumentSyncKind.Full)
await connection.sendNotification(protocol.InitializedNotification.type, {})

// A file that is not open, and its change on disk.
const [wrong] = await published('other.yaml', 'schema')
assert.deepEqual(wrong.range, protocol.Range.create(3, 8, 3, 10))
assert.equal(wrong.severity, protocol.DiagnosticSeverity.Error)
assert.equal(wrong.source, 'purser')
assert.match(wrong.message, /41 is greater than the maximum of 40\nhelp: /)
assert.equal(watches, 1)
writeFileSync(join(folder, 'other.yaml'), host('other', 4))
await connection.sendNotification(protocol.DidChangeWatchedFilesNotification.type,
  {changes: [{uri: uriOf('other.yaml'), type: protocol.FileChangeType.Changed}]})
await published('other.yaml')

// A file that is open and not saved yet.
const textDocument = {uri: uriOf('new.yaml')}
await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type,
  {textDocument: {...textDocument, languageId: 'yaml', version: 1, text: host('new', '"é😀" # x')}})
assert.deepEqual((await published('new.yaml', 'schema'))[0].range, protocol.Range.create(3, 8, 3, 13))

const hover = await connection.sendRequest(protocol.HoverRequest.type,
  {textDocument, position: protocol.Position.create(3, 3)})
assert.match(hover.contents.value, /^The number of the rack\n/)
const definition = await connection.sendRequest(protocol.DefinitionRequest.type,
  {textDocument, position: protocol.Position.create(0, 10)})
assert.deepEqual(definition, {uri: uriOf('base.yaml'), range: protocol.Range.create(4, 0, 4, 6)})
await connection.sendNotification(protocol.DidChangeTextDocumentNotification.type,
  {textDocument: {...textDocument, version: 2}, contentChanges: [{text: host('new', '3\n  role: ')}]})
const {items} = await connection.sendRequest(protocol.CompletionRequest.type,
  {textDocument, position: protocol.Position.create(4, 8)})
assert.deepEqual(items.map(item => item.label), ['control', 'compute'])

// A request that is cancelled has an answer, which is an error or came before.
const cancel = new protocol.CancellationTokenSource()
const asked = connection.sendRequest(protocol.HoverRequest.type,
  {textDocument, position: protocol.Position.create(3, 3)}, cancel.token)
cancel.cancel()
await asked.catch(error => assert.equal(error.code, protocol.LSPErrorCodes.RequestCancelled))
await assert.rejects(connection.sendRequest('textDocument/none', {}), {code: protocol.ErrorCodes.MethodNotFound})

await connection.sendRequest(protocol.ShutdownRequest.type)
await connection.sendNotification(protocol.ExitNotification.type)
assert.equal(await ended, 0)
rmSync(folder, {recursive: true})
console.log('an editor: findings, hover, definition, completion, cancelled requests')
