// browser.test.mjs - the page in headless Chromium: values, pictures, policy, requests, damaged files.
//
// Screenshots are kept in build/web/screenshots.  Figures are printed beside their bars and fail nothing.
// SPDX-License-Identifier: MIT
import assert from 'node:assert';
import {spawnSync} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join, resolve} from 'node:path';
import {after, before, test} from 'node:test';
import {brotliCompressSync} from 'node:zlib';
import {arrayDiffers, dump, walk} from './dump.mjs';
import {BUILDDIR, DATAREP, DOORS, SRCDIR, browser, drop, endAll, enter, files, newPage, nginx, opened, pixels, select, serve, view} from './page.mjs';

const folder = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'page-')), shots = resolve(BUILDDIR, 'web/screenshots');
const MUTANTS = process.env.TAB_MUTANTS ?? '1000';
const vectors = ['', 'machines/'].flatMap(f => readdirSync(`${SRCDIR}/tests/vectors/${f}`).filter(n => n.endsWith('.drep')).map(n => `${SRCDIR}/tests/vectors/${f}${n}`));
const LEFT_OUT = /filter|lzf|blosc|drep_external|other files|file system|conversion functions|is not (registered|available)|functions|bias .* is too large/;
let b, made;

before(async () => { mkdirSync(shots, {recursive: true}); made = files(folder); b = await browser(); });
after(async () => { endAll(); await b?.close(); rmSync(folder, {recursive: true}); });
const bar = (what, value, most, unit) => console.log(`# figure: ${what}: ${value} ${unit}, bar ${most}${value > most ? ' MISSED' : ''}`);

// Values of the page's provider, in a form that JSON has; runs in the page.
async function valueOf([path, name]) {
  const {api} = window.datarep;
  const plain = v => typeof v === 'bigint' ? {big: String(v)} : typeof v === 'number' ? Number.isFinite(v) && !Object.is(v, -0) ? v : {number: Object.is(v, -0) ? '-0' : String(v)}
    : v instanceof Uint8Array ? {bytes: Array.from(v)} : ArrayBuffer.isView(v) || Array.isArray(v) ? Array.from(v, plain) : v && typeof v === 'object' ? {...v} : v;
  try {
    if (name === undefined) {
      const dataset = await api.getEntity(path);
      if (dataset.kind !== 'dataset') return {error: 'no dataset'};
      const shape = dataset.shape.class === 'Null' ? null : dataset.shape.dims ?? [];
      const unpacked = dataset.cf;
      const value = shape?.includes(0) ? api.getValue({dataset}).then(() => 'a value', e => e.message.includes('has no elements') ? [] : e.message) : api.getValue({dataset});
      return {unpacked, shape, type: dataset.source.t, data: shape && plain(await value)};
    }
    const {data, shape, type} = await api.call('attribute', {path, name});
    return {shape, type, data: plain(data)};
  } catch (e) {
    return {error: e.message};
  }
}
function revive(t, v) {
  if (Array.isArray(v)) return v.map(x => revive(t, x));
  if (v && typeof v === 'object') {
    if ('big' in v) return BigInt(v.big);
    if ('number' in v) return v.number === '-0' ? -0 : Number(v.number);
    if ('bytes' in v) return v.bytes;
  }
  return v;
}

let values = 0, left = 0;
async function compare(page, file) {
  const {document, message} = dump(DATAREP, file);
  if (!document?.root) return;
  const read = async (path, name, want) => {
    const r = await page.evaluate(valueOf, name === undefined ? [path] : [path, name]);
    if (r.error !== undefined) {
      if (!message && !LEFT_OUT.test(r.error)) return `${path}: ${r.error}`;
      left++;
      return null;
    }
    r.data = revive(r.type, r.data);
    return message || r.unpacked ? null : arrayDiffers(r, want, path);
  };
  const {found, values: n} = await walk(document, {dataset: (p, o) => read(p, undefined, o.data), attribute: (p, n, a) => read(p, n, a.value)});
  assert.deepEqual(found, [], file);
  values += n;
}

test('values of all vectors by datarep view, through the provider, are those of dump', async () => {
  const server = await view(folder, ...vectors), {page, wrong} = await newPage(b);
  await enter(page, server);
  for (const [i, file] of vectors.entries()) {
    const message = await page.evaluate(([i, name]) => window.datarep.call('open', {what: new URL(`data/${i}`, document.baseURI).href}).then(() => '', e => e.message), [i, file]);
    if (!message) await compare(page, file);
    else assert.ok(!dump(DATAREP, file).document?.root, `${file}: ${message}`);
  }
  assert.deepEqual(wrong, []);
  await page.close();
  server.end();
  assert.ok(values > 2000, `${values} values`);
  console.log(`# counted: ${values} values of the vectors through the page's provider, ${left} of them left out for want of a filter, a file or functions`);
});

test('values of all vectors by --export on nginx, and dropped, are those of dump', async () => {
  const site = join(folder, 'site'), readable = vectors.filter(f => spawnSync(DATAREP, ['ls', f]).status === 0);
  assert.equal(spawnSync(DATAREP, ['view', '--export', site, ...readable]).status, 0);
  const server = await nginx(site), {page, wrong} = await newPage(b), before = values;
  await page.goto(server.address);
  await opened(page);
  const listed = await page.evaluate(() => fetch('files.json').then(r => r.json()));
  for (const [i, file] of readable.entries()) {
    await page.evaluate(u => window.datarep.call('open', {what: new URL(u, document.baseURI).href}), listed[i].url);
    await compare(page, file);
  }
  const exported = values - before;
  for (const file of readable) {
    await drop(page, file);
    await compare(page, file);
  }
  assert.equal(values - before, 2 * exported);
  await page.setInputFiles('#file', readable[0]);
  await page.waitForFunction(name => document.title.startsWith(name), basename(readable[0]));
  assert.deepEqual(wrong, []);
  await page.close();
  server.end();
  console.log(`# counted: ${exported} values by --export on nginx, and again dropped`);
});

// Each of these by all doors: `datarep view`, --export on nginx, a dropped file.
const everyDoor = (what, name, fn) => {
  for (const door of Object.keys(DOORS))
    test(`${what} (${door})`, async () => {
      const {page, wrong} = await newPage(b), began = Date.now(), server = await DOORS[door](folder, page, made[name]);
      await fn(page, {door, began, shot: n => page.screenshot({path: join(shots, door === 'view' ? n : n.replace('.', `-${door}.`))})});
      assert.deepEqual(wrong, []);
      await page.close();
      server.end();
    });
};

everyDoor('a heat map over its coordinates, a line, a table: pixels', 'sea', async (page, {door, began, shot}) => {
  await page.waitForSelector('canvas');
  await page.getByText('lat (degrees_north)').waitFor();
  const shown = Date.now(), asked = await page.evaluate(() => window.dropped ?? performance.timeOrigin);
  bar(`first picture, ${door}, browser warm`, ((shown - began) / 1000).toFixed(2), 3, 's');
  console.log(`# figure: of these, ${((shown - asked) / 1000).toFixed(2)} s from ${door === 'drop' ? 'the drop' : 'the request for the page'} on; before it the server starts`);
  await page.waitForTimeout(1500);
  await shot('heatmap.png');
  const p = await pixels(page, 'canvas'), columns = [];
  // The picture of cos(latitude) is dark violet at the poles and yellow at the equator (Viridis).
  for (let x = 0.3; x < 0.75; x += 0.05) {
    const [top, middle, bottom] = [0.16, 0.5, 0.84].map(y => p.at(x * p.width, y * p.height));
    columns.push(middle[0] + middle[1] > 300 && middle[2] < 140 && top[0] + top[1] < 300 && bottom[0] + bottom[1] < 300);
  }
  assert.ok(columns.filter(Boolean).length >= 7, `columns of the heat map: ${columns}`);
  await select(page, 'lat');
  await page.waitForSelector('canvas');
  await page.waitForTimeout(1500);
  await shot('line.png');
  const line = await pixels(page, 'canvas'), hits = [];
  for (let x = Math.floor(line.width * 0.2); x < line.width * 0.9; x += 20) {
    const ys = [];
    for (let y = 0; y < line.height; y++) { const [r, g, bl] = line.at(x, y); if (Math.max(r, g, bl) - Math.min(r, g, bl) > 60 && r + g + bl < 600) ys.push(y); }
    if (ys.length) hits.push(ys.reduce((a, c) => a + c) / ys.length);
  }
  assert.ok(hits.length > 15, `the line is seen in ${hits.length} columns`);
  assert.ok(hits.every((y, i) => !i || y < hits[i - 1] + 3) && hits[0] - hits.at(-1) > line.height / 3, `it rises: ${hits.map(Math.round)}`);
  await page.getByRole('tab', {name: 'Matrix'}).or(page.getByText('Matrix', {exact: true})).first().click();
  await page.waitForTimeout(500);
  assert.match(await page.locator('body').innerText(), /\u22129\.000e\+1/); // with a minus sign
  await page.getByText('Inspect').click();
  await page.waitForTimeout(300);
  assert.match(await page.locator('body').innerText(), /degrees_north/);
});

everyDoor('pictures as plot makes them: a map with coastlines, dates, frames', 'frames', async (page, {door, shot}) => {
  const picture = title => page.waitForFunction(t => window.datarep.picture?.title === t && window.datarep.picture, title).then(h => h.jsonValue());
  const texts = axis => axis.ticks.map(t => t.text);
  await page.locator('[data-path="/series"]').click();
  await page.click('#picture');
  const line = await picture('series');
  assert.deepEqual(texts(line.x), ['2001-01', '2001-02', '2001-03', '2001-04', '2001-05', '2001-06']);
  assert.equal(line.map, false);
  await shot('dates.png');
  await page.click('#picture');
  await page.locator('[data-path="/t2m"]').click();
  await page.click('#picture');
  const first = await picture('temperature, 2001-01-01');
  assert.ok(first.map && texts(first.x).includes('120\u00b0E') && texts(first.y).includes('30\u00b0N'), JSON.stringify(first));
  assert.ok(first.coast > 1000 || spawnSync('test', ['-f', resolve(BUILDDIR, 'web/www/assets/coast.drep')]).status, `${first.coast} numbers of coastlines`);
  await shot('map.png');
  await page.getByRole('button', {name: 'Play'}).click();
  for (const day of ['2001-02-01', '2001-03-01', '2001-04-01', '2001-05-01', '2001-06-01', '2001-01-01']) await picture(`temperature, ${day}`);
  await page.getByRole('button', {name: 'Stop'}).click();
  await page.waitForTimeout(400);
  await page.getByLabel('index of dimension 0').fill('5');
  await picture('temperature, 2001-06-01');
  // One scale for all frames: the last, of the greatest values, is all bright, the first is dark.
  const middle = async () => { const p = await pixels(page, '.picture canvas'), [r, g] = p.at(p.width * 0.45, p.height * 0.5); return r + g; };
  await page.waitForTimeout(300);
  const last = await middle();
  await page.getByLabel('index of dimension 0').fill('0');
  await picture('temperature, 2001-01-01');
  await page.waitForTimeout(300);
  assert.ok(last > 350 && await middle() < 120, `brightness of the last frame ${last}, of the first ${await middle()}`);
});

everyDoor('packed values are unpacked, or as stored', 'sea', async (page, {}) => {
  const read = () => page.evaluate(async () => { const {api} = window.datarep, dataset = await api.getEntity('/packed'); return Array.from(await api.getValue({dataset}), String).slice(0, 4); });
  assert.deepEqual(await read(), ['100', '105', 'NaN', '102.5']);
  await page.uncheck('#cf');
  await page.waitForTimeout(300);
  assert.deepEqual(await read(), ['0', '10', '-999', '5']);
});

everyDoor('names with markup, names of properties', 'names', async (page, {shot}) => {
  await page.getByText('<img src=x onerror=alert(1)>').first().click();
  await page.getByText('Inspect').click();
  await page.getByRole('rowheader', {name: '<script>alert(2)</script>'}).waitFor();
  await shot('names.png');
  await select(page, '__proto__');
  await page.getByText('Inspect').click().catch(() => {});
  await select(page, 'javascript:alert(4)');
  await page.waitForTimeout(500);
  assert.equal(await page.locator('img[src=x]').count(), 0);
});

everyDoor('10,000 objects in one group', 'many', async (page, {door, shot}) => {
  const began = Date.now();
  await select(page, 'g');
  await page.getByText('0 \u2026 499', {exact: true}).first().click();
  await page.getByText('d499', {exact: true}).first().waitFor();
  bar(`10,000 objects, ${door}: a group opened and its first range`, ((Date.now() - began) / 1000).toFixed(2), 2, 's');
  await page.getByText('9500 \u2026 9999', {exact: true}).first().click();
  await page.getByText('d9999', {exact: true}).first().click();
  await page.waitForTimeout(800);
  await shot('many.png');
  assert.match(await page.locator('body').innerText(), /9999/);
  const {rounds, requests, bytes} = await page.evaluate(() => window.datarep.call('stats'));
  if (door === 'export') bar('10,000 objects: rounds of requests', rounds, 3, `rounds, ${requests} requests, ${bytes} bytes`);
});

everyDoor('what is too large is reduced, not loaded', 'large', async (page, {}) => {
  await select(page, 'plane');
  await page.waitForTimeout(1500);
  assert.match(await page.locator('body').innerText(), /more than the limit/);
  const reduced = await page.evaluate(async () => {
    const {api} = window.datarep, root = await api.getEntity('/');
    const dataset = root.children.find(c => /every/.test(c.name) && c.name.startsWith('plane')), v = await api.getValue({dataset, selection: ':,:'});
    return {name: dataset.name, dims: dataset.shape.dims, n: v.length, first: v[0], last: v[v.length - 1], cube: root.children.some(c => /^cube \(every/.test(c.name))};
  });
  assert.equal(reduced.n, reduced.dims[0] * reduced.dims[1]);
  assert.ok(reduced.first === 7 && reduced.last === 7 && reduced.cube && reduced.n * 8 <= 4 * 2 ** 20, JSON.stringify(reduced));
  const {heap} = await page.evaluate(() => window.datarep.call('stats'));
  bar('memory of the core after a reduced plane', (heap / 2 ** 20).toFixed(0), 96, 'MiB');
});

// What the page's process holds: private memory of the renderer, the page's heap and the worker's in it.
async function memory(session) {
  const {processInfo} = await session.send('SystemInfo.getProcessInfo');
  return Math.max(...processInfo.filter(p => p.type === 'renderer').map(p =>
    ['Private_Dirty', 'Private_Clean'].reduce((sum, n) => sum + 1024 * +new RegExp(`^${n}: +(\\d+)`, 'm').exec(readFileSync(`/proc/${p.id}/smaps_rollup`, 'utf8'))[1], 0)));
}

test('memory of the page: of what is shown, given back with the next dataset', async () => {
  const own = await browser(), session = await own.newBrowserCDPSession();
  for (const n of [2048, 4096]) {
    const {page, wrong} = await newPage(own), server = await DOORS.export(folder, page, made.square(n)), cdp = await page.context().newCDPSession(page);
    const collect = async () => { await cdp.send('HeapProfiler.collectGarbage'); await page.waitForTimeout(1500); };
    await select(page, 'small');
    await page.waitForSelector('canvas');
    await collect();
    const before = await memory(session), began = Date.now();
    await page.locator('[data-path="/z"]').click();
    await page.waitForFunction(() => performance.getEntriesByType('resource').length >= 0 && document.querySelector('canvas') && !document.body.innerText.includes('Loading data'), null, {timeout: 60000});
    await page.waitForTimeout(500);
    console.log(`# figure: ${n} x ${n} whole plane: ${((Date.now() - began - 500) / 1000).toFixed(2)} s`);
    await page.waitForTimeout(3000);
    await collect();
    const shown = await memory(session) - before, bytes = 4 * n * n, mib = x => Math.round(x / 2 ** 20);
    await page.screenshot({path: join(shots, `whole${n}.png`)});
    bar(`memory of the page, ${n} x ${n} FLOAT (${mib(bytes)} MiB)`, mib(shown), mib(3 * bytes) + 64, 'MiB');
    await select(page, 'small');
    await page.waitForTimeout(1000);
    await collect();
    bar(`memory left of ${n} x ${n} when another dataset is shown`, mib(await memory(session) - before), 64, 'MiB');
    assert.deepEqual(wrong, []);
    await page.close();
    server.end();
  }
  await own.close();
});

test('first picture, cold: a browser that has just started', async () => {
  const began = Date.now(), own = await browser(), {page} = await newPage(own), server = await DOORS.export(folder, page, made.sea);
  await page.waitForSelector('canvas');
  await page.getByText('lat (degrees_north)').waitFor();
  const end = Date.now(), seconds = ms => (ms / 1000).toFixed(2);
  const {asked, marks} = await page.evaluate(() => ({asked: performance.timeOrigin, marks: [...performance.getEntriesByType('resource').filter(r => /main|worker/.test(r.name)).map(r => [r.name.replace(/.*\/(\w+)-.*/, '$1 there'), r.responseEnd]),
    ...performance.getEntriesByType('mark').map(m => [`first answer to ${m.name}`, m.startTime])]}));
  bar('first picture, cold, the start of Chromium and the export included', seconds(end - began), 3, 's');
  console.log(`# figure: of these, ${seconds(end - asked)} s from the request for the page on; in it ${marks.map(([n, t]) => `${n} ${seconds(t)}`).join(', ')}`);
  await own.close();
  server.end();
});

test('times', async () => {
  for (const [n, most] of [[2048, 1.5], [4096, 5]]) {
    const file = made.square(n), site = join(folder, `site${n}`);
    assert.equal(spawnSync(DATAREP, ['view', '--export', site, file]).status, 0);
    const server = await serve(site), {page} = await newPage(b);
    await page.goto(server.address);
    await opened(page);
    const name = n * n * 4 > 32 * 2 ** 20 ? /^z \(every/ : 'z';
    const began = Date.now();
    await page.getByRole('treeitem', {name}).first().click();
    await page.waitForSelector('canvas', {timeout: 30000});
    const end = Date.now(), there = Math.max(...server.log.map(answer => answer[2]));
    bar(`${n} x ${n} heat map, after its bytes`, ((end - there) / 1000).toFixed(2), most, 's');
    console.log(`# figure: ${n} x ${n}: ${((end - began) / 1000).toFixed(2)} s from the click, the bytes were there after ${((there - began) / 1000).toFixed(2)} s`);
    const {requests, bytes, rounds, heap} = await page.evaluate(() => window.datarep.call('stats'));
    console.log(`# figure: ${n} x ${n}: ${requests} requests in ${rounds} rounds, ${bytes} bytes, heap ${(heap / 2 ** 20).toFixed(0)} MiB`);
    await page.waitForTimeout(500);
    await page.screenshot({path: join(shots, `square${n}.png`)});
    await page.close();
    server.end();
  }
  const remote = join(folder, 'remote');
  assert.equal(spawnSync(DATAREP, ['view', '--export', remote, made.sea]).status, 0);
  for (const delay of [0, 100]) {
    const server = await serve(remote, delay), {page} = await newPage(b);
    await page.goto(server.address);
    await opened(page);
    const {ms, rounds} = await page.evaluate(async () => {
      const what = new URL('0-sea.drep', document.baseURI).href, began = performance.now();
      await window.datarep.call('open', {what});
      await window.datarep.call('read', {path: '/sst', select: '[0,0]'});
      return {ms: performance.now() - began, rounds: (await window.datarep.call('stats')).rounds};
    });
    if (delay) bar('open to first value, remote: round trips', rounds + 1, 4, `(${ms.toFixed(0)} ms at ${delay} ms each)`);
    else bar('open to first value', (ms / 1000).toFixed(3), 0.3, 's');
    await page.close();
    server.end();
  }
  let size = 0;
  for (const f of ['index.html', ...readdirSync(resolve(BUILDDIR, 'web/www/assets')).filter(f => !f.endsWith('.drep')).map(f => `assets/${f}`)])
    size += brotliCompressSync(readFileSync(resolve(BUILDDIR, 'web/www', f))).length;
  bar('page with core, without coastlines, brotli', (size / 1e6).toFixed(3), 0.75, 'MB');
});

test(`${MUTANTS} damaged files in the tab`, async () => {
  const damaged = join(folder, 'mutants');
  mkdirSync(damaged);
  const r = spawnSync(`${BUILDDIR}/release/tests/fault/mutants`, [MUTANTS, '7', ...vectors], {env: {...process.env, MUTANT_FOLDER: damaged}, encoding: 'utf8'});
  assert.equal(r.status, 0, r.stderr);
  const server = await serve(damaged), {page, wrong} = await newPage(b), site = await view(folder, made.sea);
  await enter(page, site);
  let fine = 0, slowest = 0;
  for (const name of readdirSync(damaged)) {
    const bytes = readFileSync(join(damaged, name)).toString('base64'), began = Date.now();
    const errors = await page.evaluate(async text => {
      const {call} = window.datarep, errors = [];
      try {
        await call('open', {what: new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], 'm.drep')});
        for (const path of (await call('paths', {path: '/'})).slice(0, 300)) if ((await call('get', {path})).kind === 'dataset') await call('read', {path, limit: 2 ** 24}).catch(e => errors.push(e.message));
      } catch (e) { errors.push(e.message); }
      return errors;
    }, bytes);
    slowest = Math.max(slowest, Date.now() - began);
    assert.ok(!errors.some(e => /core (failed|ended)|out of memory|worker ended/.test(e)), `${name}: ${errors}`);
    fine += !errors.length;
  }
  assert.ok(slowest < 10000, `a file took ${slowest} ms`);
  assert.deepEqual(wrong, []);
  await page.close();
  server.end();
  site.end();
  console.log(`# counted: ${MUTANTS} damaged files in the tab, ${fine} of them read without an error; the slowest took ${slowest} ms`);
});

test('the bare page of the README', async () => {
  const bare = join(folder, 'bare');
  mkdirSync(bare);
  cpSync(resolve(BUILDDIR, 'web/datarep-wasm'), join(bare, 'datarep-wasm'), {recursive: true});
  const html = /<!-- test: page -->\n```html\n([^]*?)```/.exec(readFileSync(`${SRCDIR}/web/datarep-wasm/README.md`, 'utf8'))[1];
  assert.ok(html.trim().split('\n').length <= 10);
  writeFileSync(join(bare, 'index.html'), html);
  writeFileSync(join(bare, 's.yaml'), 'dims: {lat: 2, lon: 3}\nroot: {sst: {dataset: DOUBLE, dims: [lat, lon], data: [[271.5, 272, 273.25], [290, 291.5, 300]]}}\n');
  assert.equal(spawnSync(DATAREP, ['create', '-s', join(bare, 's.yaml'), join(bare, 'sst.drep')]).status, 0);
  const server = await serve(bare), {page} = await newPage(b);
  await page.goto(server.address);
  await page.waitForFunction(() => document.getElementById('out').textContent);
  assert.equal(await page.textContent('#out'), '271.5 272 273.25 290 291.5 300');
  await page.close();
  server.end();
});
