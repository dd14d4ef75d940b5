// beside.mjs - the page of datarep view beside h5web's own page on the exported .h5 of the same data: what each shows.
//
// Usage: node tests/web/beside.mjs [--update]    prints the table; --update writes it into web/datarep-wasm/README.md
// SPDX-License-Identifier: MIT
import {execFileSync} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {BUILDDIR, DATAREP, SRCDIR, browser, endAll, enter, newPage, serve, view} from './page.mjs';

const README = `${SRCDIR}/web/datarep-wasm/README.md`, source = resolve(SRCDIR, 'tests/web/h5web'), built = resolve(BUILDDIR, 'web/h5web');
const folder = mkdtempSync(join(tmpdir(), 'beside-')), file = join(folder, 'kinds.drep'), h5 = join(folder, 'kinds.h5');
const numbers = n => Array.from({length: n}, (_, i) => i % 17);

const SCHEMA = `datarep: external32
dims: {time: 4, lat: 8, lon: 16}
types:
  pair: {struct: {id: INT, v: DOUBLE}}
root:
  time: {dataset: INT, dims: [time], data: [0, 31, 59, 90], attrs: {units: "days since 2001-01-01"}}
  lat: {dataset: DOUBLE, dims: [lat], data: [${numbers(8).map(i => -70 + 20 * i)}], attrs: {units: degrees_north}}
  lon: {dataset: DOUBLE, dims: [lon], data: [${numbers(16).map(i => i * 20)}], attrs: {units: degrees_east}}
  grid: {dataset: FLOAT, dims: [lat, lon], chunk: [4, 8], filters: [shuffle, deflate: 3], fill: 3, attrs: {units: K}}
  frames: {dataset: FLOAT, dims: [time, lat, lon], fill: 2, attrs: {units: K}}
  series: {dataset: DOUBLE, dims: [time], data: [1, 3, 2, 4]}
  packed: {dataset: SHORT, dims: [time], data: [0, 10, -999, 5], attrs: {scale_factor: 0.5, _FillValue: {type: SHORT, value: -999}}}
  zstd: {dataset: FLOAT, dims: [lat, lon], chunk: [4, 8], filters: [zstd: 3], fill: 1}
  lz4: {dataset: FLOAT, dims: [lat, lon], chunk: [4, 8], filters: [lz4], fill: 1}
  big: {dataset: INT64_T, shape: [2], data: [9007199254740993, -9223372036854775808]}
  half: {dataset: FLOAT16, shape: [3], data: [1, 2.5, 3]}
  bfloat: {dataset: BFLOAT16, shape: [3], data: [1, 2.5, 3]}
  long: {dataset: LONG_DOUBLE, shape: [3], data: [1, 2.5, 3]}
  complex: {dataset: C_DOUBLE_COMPLEX, shape: [2], data: [[1, 2], [3, 4]]}
  flag: {dataset: CXX_BOOL, shape: [2], data: [true, false]}
  text: {dataset: vstring, shape: [2], data: [one, two]}
  table: {dataset: pair, shape: [2], data: [{id: 1, v: 2.5}, {id: 2, v: 3.5}]}
  cube: {dataset: FLOAT, shape: [1048576, 1048576], chunk: [1024, 1024], filters: [deflate: 1], fill: 3}
`;
const WHAT = {grid: 'FLOAT over latitude and longitude, deflate', frames: 'the same over time', series: 'a series over dates', packed: 'packed values (CF)',
  zstd: 'filter zstd', lz4: 'filter lz4', big: 'integers beyond 2^53', half: 'FLOAT16', bfloat: 'BFLOAT16', long: 'LONG_DOUBLE', complex: 'complex numbers', flag: 'booleans',
  text: 'texts', table: 'structs', cube: '2^40 elements'};

async function tabs(page, name) {
  await page.locator(`[data-path="/${name}"]`).first().click();
  await page.waitForTimeout(900);
  // What cannot be shown may take its time to say so.
  const late = name === 'cube' && !await page.waitForSelector('canvas, [role=alert]', {timeout: 15000}).catch(() => null);
  const all = (await page.getByRole('tab').allInnerTexts()).filter(t => !/explore|search|display|inspect/i.test(t) && t), body = await page.locator('body').innerText();
  const alert = /(more than the limit[^\n]*|[^\n]*(?:rror|not supported|No visualization|failed|Expected|too large|ut of memory|Unable|ggregate|nvalid)[^\n]*)/.exec(body)?.[1];
  if (late && !alert) return 'no: nothing within 15 s';
  return alert ? `no: ${alert.slice(0, 70)}` : all.join(', ') || 'the type alone';
}

// The views, and what the page adds of its own.
async function ours(page, name) {
  const shown = await tabs(page, name), more = [];
  if (await page.locator(`[data-path="/${name} (axes)"]`).count() || name === 'grid') more.push('over its coordinates');
  if (await page.locator(`[data-path^="/${name} (every"]`).count()) more.push('every n-th element');
  const value = await page.evaluate(async n => { const {api} = window.datarep, o = (await api.getEntity('/')).children.find(c => c.name === n); return o?.cf ? 'unpacked' : ''; }, name);
  if (value) more.push(value);
  await page.evaluate(() => { window.datarep.picture = null; });
  await page.click('#picture');
  const p = await page.waitForFunction(() => window.datarep.picture, null, {timeout: 3000}).then(h => h.jsonValue(), () => null);
  await page.click('#picture');
  if (p?.map) more.push(name === 'frames' ? 'a map with coastlines, in frames' : 'a map with coastlines');
  else if (p && /^\d{4}-/.test(p.x.ticks[0]?.text)) more.push('dates');
  return [shown, ...more].join('; ');
}

const b = await browser();
try {
  writeFileSync(join(folder, 's.yaml'), SCHEMA);
  execFileSync(DATAREP, ['create', '-s', join(folder, 's.yaml'), file]);
  execFileSync(DATAREP, ['export', file, h5], {stdio: ['ignore', 'ignore', 'inherit']});
  mkdirSync(built, {recursive: true});
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'main.jsx', 'index.html', 'vite.config.js']) cpSync(join(source, name), join(built, name));
  if (!process.argv.includes('--built')) execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {cwd: built, stdio: 'inherit'});
  execFileSync('node_modules/.bin/vite', ['build', '--logLevel=error'], {cwd: built, stdio: 'inherit'});
  cpSync(join(built, 'www'), join(folder, 'www'), {recursive: true});
  cpSync(join(built, 'node_modules/h5wasm-plugins/plugins'), join(folder, 'www/plugins'), {recursive: true});
  cpSync(h5, join(folder, 'www/file.h5'));
  const server = await view(folder, file), {page} = await newPage(b), theirs = await serve(join(folder, 'www')), {page: other} = await newPage(b);
  await enter(page, server);
  other.setDefaultTimeout(20000);
  await other.goto(theirs.address);
  await other.locator('[data-path="/grid"]').waitFor();
  const rows = [];
  for (const [name, what] of Object.entries(WHAT)) rows.push(`| ${what} | ${await ours(page, name)} | ${await tabs(other, name).catch(() => 'no: the page ends, or does not answer')} |`);
  const table = ['| data | `datarep view` | h5web 16 on the .h5 that `datarep export` made |', '|---|---|---|', ...rows].join('\n');
  console.log(table);
  if (process.argv.includes('--update')) {
    const text = readFileSync(README, 'utf8');
    writeFileSync(README, text.replace(/(<!-- beside: table -->\n)[^]*?(<!-- beside: end -->)/, (_, a, z) => a + table + '\n' + z));
  }
} finally {
  endAll();
  await b.close();
  rmSync(folder, {recursive: true});
}
