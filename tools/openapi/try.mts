// Tries the client that openapi-typescript and openapi-fetch make from openapi.yaml on a running server, as
// tools/clients/main.go does those in Go: node gen/try.mjs URL
import createClient from 'openapi-fetch';
import type { paths } from '../../bin/clients/purser.js';

declare const process: { argv: string[]; exit(code: number): never };

const validation = 'openapi-typescript-validation';
const client = createClient<paths>({ baseUrl: process.argv[2], headers: { Accept: 'application/json' } });
const latest = { revision: 'latest' };

function fail(what: string, error: unknown): never {
  console.error(`openapi-typescript: ${what}: ${JSON.stringify(error)}`);
  process.exit(1);
}

const put = await client.PUT('/api/v1.0/buckets/{bucket}/documents', {
  params: { path: { bucket: 'clients' } },
  headers: { 'Content-Type': 'application/json' },
  body: [{
    schema: 'deckhand/ValidationPolicy/v1',
    metadata: { schema: 'metadata/Control/v1', name: 'ready' },
    data: { validations: [{ name: validation }] },
  }],
});
if (!Array.isArray(put.data) || put.data.length !== 1) fail('put', put.error ?? put.data);

const { data: before } = await client.GET('/api/v1.0/revisions/{revision}/status', { params: { path: latest } });
if (before?.status !== 'failure') fail('the status before', before);

const wait = client.GET('/api/v1.0/revisions/{revision}/status', {
  params: { path: latest, query: { expect: 'success', wait: '30s' } },
});
const posted = await client.POST('/api/v1.0/revisions/{revision}/validations/{name}', {
  params: { path: { ...latest, name: validation } },
  headers: { 'Content-Type': 'application/json' },
  body: { status: 'success', validator: { name: 'clients', version: '1' } },
});
if (!posted.data) fail('post', posted.error);
const { data: after, error } = await wait;
if (after?.status !== 'success') fail('the status after', error);

const { data: revisions } = await client.GET('/api/v1.0/revisions', { params: { query: { order: 'desc', limit: 1 } } });
const { data: found } = await client.GET('/api/v1.0/revisions/{revision}/findings', { params: { path: latest } });
if (revisions?.results.length !== 1 || found?.findings.length !== 0) fail('the lists', [revisions, found]);
console.log('openapi-typescript: put, waited and posted');
