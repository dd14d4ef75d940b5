// sources.test.mjs - where bytes come from: bytes, Blobs, servers, those that misbehave; bounds.
// SPDX-License-Identifier: MIT
import assert from 'node:assert';
import {openAsBlob, readFileSync, readdirSync} from 'node:fs';
import {createServer} from 'node:http';
import {resolve} from 'node:path';
import {after, test} from 'node:test';

const {SRCDIR = '.', BUILDDIR = 'build'} = process.env;
const {open, DatarepError} = await import(resolve(BUILDDIR, 'web/datarep-wasm/node.js'));
const {pieces} = await import(resolve(BUILDDIR, 'web/datarep-wasm/pieces.js'));
const FILE = `${SRCDIR}/tests/vectors/runs.drep`, bytes = readFileSync(FILE);

let how = {}, asked = 0;
const server = createServer((request, response) => {
  asked++;
  const m = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  if (how.status) { response.writeHead(how.status); response.end(); return; }
  if (how.whole || !m) { response.writeHead(200, {'Content-Length': how.length ?? bytes.length}); response.end(how.length ? '' : bytes); return; }
  const [from, to] = [Number(m[1]), Math.min(Number(m[2]), bytes.length - 1)];
  const part = bytes.subarray(from, to + 1 - (how.short ?? 0));
  response.writeHead(206, {
    ETag: how.etags ? `"${asked}"` : '"one"', 'Content-Length': part.length,
    ...(!how.hidden && {'Content-Range': `bytes ${from + (how.shift ?? 0)}-${to}/${bytes.length}`}),
  });
  if (how.slow) setTimeout(() => response.end(part), how.slow); else response.end(part);
}).listen(0, '127.0.0.1');
await new Promise(done => server.on('listening', done));
after(() => { server.close(); server.closeAllConnections(); });
const url = `http://127.0.0.1:${server.address().port}/runs.drep?signature=secret`;

const everything = async f => {
  const all = [f.header.uuid];
  for (const p of await f.paths('/')) {
    const o = await f.get(p);
    if (o.kind === 'dataset') all.push(await f.read(p).then(r => r.data, e => e.message.replace(/^[^:]*: /, '').replace(/^.*?: dataset/, 'dataset')));
  }
  return all;
};
const want = await everything(await open(FILE));

test('bytes, a Blob and a URL give what a file gives', async () => {
  assert.deepEqual(await everything(await open(bytes)), want);
  assert.deepEqual(await everything(await open(await openAsBlob(FILE))), want);
  how = {}; asked = 0;
  const f = await open(url);
  assert.deepEqual(await everything(f), want);
  assert.equal(f.stats.requests, asked);
  assert.ok(f.stats.bytes <= bytes.length + 65536);
});
test('a server without ranges: small files are loaded, larger ones refused', async () => {
  how = {whole: true};
  assert.deepEqual(await everything(await open(url)), want);
  how = {whole: true, length: 2 ** 30};
  await assert.rejects(open(url), /does not serve ranges/);
});
for (const [what, lie, message] of [
  ['another ETag', {etags: true}, /has changed/], ['fewer bytes', {short: 1}, /other bytes/],
  ['another place', {shift: 1}, /other bytes/], ['no Content-Range', {hidden: true}, /Content-Range/],
  ['404', {status: 404}, /404/], ['416', {status: 416}, /empty/], ['500', {status: 500}, /500/],
])
  test(`a server that answers with ${what} is an error that names it`, async () => {
    how = lie;
    await assert.rejects(open(url).then(everything), e => {
      assert.match(e.message, message);
      assert.doesNotMatch(e.message, /secret|signature/);
      return e instanceof DatarepError;
    });
  });
test('a signal cancels, also while requests are under way', async () => {
  how = {slow: 1500};
  const began = performance.now(), stop = new AbortController();
  setTimeout(() => stop.abort(), 50);
  await assert.rejects(open(url, {signal: stop.signal}), {name: 'AbortError'});
  assert.ok(performance.now() - began < 1400);
});
test('more than the limit is refused before memory is taken', async () => {
  const f = await open(FILE);
  for (const p of await f.paths('/')) {
    const o = await f.get(p);
    if (o.kind === 'dataset' && o.dims?.every(n => n > 0))
      await assert.rejects(f.read(p, {limit: 0}), e => /more than the limit/.test(e.message) && e.code !== 0);
  }
  assert.ok(f.stats.heap < 2 ** 25);
});
test('a large selection is read in pieces, and is what it is whole', async () => {
  let cut = 0;
  for (const name of readdirSync(`${SRCDIR}/tests/vectors`).filter(n => n.endsWith('.drep'))) {
    const f = await open(`${SRCDIR}/tests/vectors/${name}`).catch(() => null);
    for (const path of await f?.paths('/') ?? []) {
      const o = await f.get(path).catch(() => ({})), all = o.dims?.map(() => ':');
      if (o.kind !== 'dataset' || !all?.length) continue;
      const selections = ['', `[${all}]`, `[${all.map((_, d) => d ? ':' : '1:')}]`, `[${all.map((_, d) => d ? `1:${o.dims[d]}:2` : '0')}]`,
        `[${all.map(() => '::3')}]`, `[${all.map(() => '0')}]`, `[${all.map((_, d) => `:${o.dims[d] + 1}`)}]`, `[${all},:]`];
      for (const select of selections) {
        const read = options => f.read(path, {select, ...options}).catch(e => e.message), whole = await read({});
        for (const pieceBytes of [1, 100, 1000]) assert.deepStrictEqual(await read({pieceBytes}), whole, `${name} ${path}${select} by ${pieceBytes}`);
        cut += pieces(o, select, 1e9, 1)?.selects.length > 1;
      }
    }
    f?.close();
  }
  assert.ok(cut > 100, `${cut} selections of several pieces`);
});
test('errors have codes; paths and selections that are wrong say so', async () => {
  const f = await open(FILE);
  await assert.rejects(f.get('/absent'), e => e.code !== 0 && /absent/.test(e.message));
  const path = (await f.list('/')).members.find(m => m.kind === 'dataset').name;
  await assert.rejects(f.read('/' + path, {select: '[oops'}), DatarepError);
  f.close();
  await assert.rejects(f.get('/'), /closed/);
  await assert.rejects(open('/'), DatarepError);
  await assert.rejects(open(new Uint8Array(100)), DatarepError);
});
