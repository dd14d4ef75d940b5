// unlucky.test.mjs - the page where something is missing, odd, too large, or changes under it.
//
// Each case ends in a picture, or in words that name the file or the dataset; then the page goes on.
// SPDX-License-Identifier: MIT
import assert from 'node:assert';
import {appendFileSync, copyFileSync, mkdtempSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {after, before, test} from 'node:test';
import {BUILDDIR, SRCDIR, VIEWPORT, browser, drop, endAll, enter, files, make, newPage, nginx, npy, opened, run, view} from './page.mjs';

const folder = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'unlucky-')), shots = resolve(BUILDDIR, 'web/screenshots');
let b, made;
before(async () => { mkdirSync(shots, {recursive: true}); made = files(folder); b = await browser(); });
after(async () => { endAll(); await b?.close(); rmSync(folder, {recursive: true}); });

const pick = (page, path) => page.locator(`[data-path="${quoted(path)}"]`).click();
const quoted = text => text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ');
const says = (page, text) => page.getByText(text).first().waitFor();
const shot = (page, name) => page.screenshot({path: join(shots, `${name}.png`)});

// A file whose datasets are too large and too random to come with the first bytes.
let noises = 0;
const noise = () => make(folder, `noise${noises++}`, `dims: {y: 512, x: 512}
root: {a: {dataset: DOUBLE, dims: [y, x]}, b: {dataset: DOUBLE, dims: [y, x]}, small: {dataset: INT, shape: [2, 2], data: [[1, 2], [3, 4]]}}
`, {'/a': [Array.from({length: 512 * 512}, Math.random), [512, 512]], '/b': [Array.from({length: 512 * 512}, Math.random), [512, 512]]});

async function withPage(fn, ...shown) {
  const context = await b.newContext({viewport: VIEWPORT}), {page, wrong} = await newPage(b, context), server = shown.length ? await view(folder, ...shown) : null;
  if (server) await enter(page, server);
  await fn(page, server);
  assert.deepEqual(wrong, []);
  await context.close();
  server?.end();
}

test('a filter that the page lacks: words with dataset and filter', async () => {
  for (const filter of ['lzf', 'blosc']) {
    const file = make(folder, filter, `root: {g: {sst: {dataset: DOUBLE, shape: [300], chunk: [300], filters: [${filter}]}}}\n`, {'/g/sst': [new Float64Array(300), [300]]});
    await withPage(async page => {
      await pick(page, '/g');
      await pick(page, '/g/sst');
      const words = new RegExp(`^${filter}.drep: dataset "/g/sst": .*filter ${filter} .*this page lacks it.*datarep convert`);
      await says(page, words);
      await shot(page, `filter-${filter}`);
      await page.click('#picture');
      await page.locator('.said', {hasText: words}).waitFor();
      await page.click('#picture');
      await page.getByText('Inspect').click();
      await page.getByRole('row', {name: /DOUBLE|Float/i}).first().waitFor();
    }, file);
  }
});

test('the server ends while the page is open: words; a dropped file still opens', () => withPage(async (page, server) => {
  await pick(page, '/a');
  await page.waitForSelector('canvas');
  server.end();
  await pick(page, '/b');
  await says(page, /^noise\d+\.drep: the server does not answer/);
  await shot(page, 'server-ended');
  await pick(page, '/small');
  await page.getByText('Matrix', {exact: true}).first().waitFor();
  await drop(page, made.sea);
  await page.getByText('lat (degrees_north)').waitFor();
}, noise()));

test('a file that changes under the page: words, and right when it is opened again', async () => {
  const file = noise();
  await withPage(async page => {
    writeFileSync(join(folder, 'v.npy'), npy([5, 6, 7, 8], [2, 2]));
    run('import', '-u', '-i', '/small', join(folder, 'v.npy'), file);
    await pick(page, '/b');
    await says(page, /^noise\d+\.drep: the file has changed: open it again/);
    await page.reload();
    await opened(page);
    await pick(page, '/b');
    await page.waitForSelector('canvas');
    // Another file of that name: the server has the one that it opened.
    copyFileSync(made.sea, file + '.new');
    renameSync(file + '.new', file);
    await pick(page, '/a');
    await page.waitForSelector('canvas');
    await page.reload();
    await opened(page);
    await page.locator('[data-path="/a"]').waitFor();
  }, file);
});

test('a file that becomes shorter under the page', async () => {
  const file = noise();
  await withPage(async page => {
    await page.locator('[data-path="/b"]').waitFor();
    truncateSync(file, 100000);
    await pick(page, '/b');
    await says(page, /^noise\d+\.drep: the file has changed: open it again/);
    await page.reload();
    await says(page, /^noise\d+\.drep: truncated/);
  }, file);
});

test('a dropped file that changes', () => withPage(async page => {
  const file = noise();
  await drop(page, file);
  await page.locator('[data-path="/b"]').waitFor();
  appendFileSync(file, 'x');
  await pick(page, '/b');
  await says(page, /^noise\d+\.drep: it cannot be read, or has changed/);
}, made.sea));

test('files that are no Datarep files, of an older draft, of a newer version, cut', () => withPage(async page => {
  const sea = readFileSync(made.sea), cases = [
    ['nothing.drep', Buffer.alloc(0), /nothing\.drep: not a Datarep file/],
    ['a.nc', Buffer.from(`CDF\x01${'x'.repeat(500)}`), /a\.nc: not a Datarep file/],
    ['a.h5', Buffer.from(`\x89HDF\r\n\x1a\n${'x'.repeat(900)}`, 'latin1'), /a\.h5: not a Datarep file/],
    ['older.drep', readFileSync(`${SRCDIR}/tests/vectors/bad/draft-4.drep`), /older\.drep: written in draft 4 .*not read any more/],
    ['newer.drep', readFileSync(`${SRCDIR}/tests/vectors/bad/newer-major.drep`), /newer\.drep: written in version 2/],
    ['short.drep', sea.subarray(0, 3000), /short\.drep: truncated/], ['cut.drep', sea.subarray(0, -100), /cut\.drep: truncated/]];
  for (const [name, bytes, words] of cases) {
    writeFileSync(join(folder, name), bytes);
    await drop(page, join(folder, name));
    await page.getByRole('alert').getByText(words).waitFor();
    assert.equal(await page.title(), 'Datarep');
  }
  await shot(page, 'cut');
  await drop(page, made.sea);
  await page.getByText('lat (degrees_north)').waitFor();
}, made.sea));

test('a file without datasets, an empty group', () => withPage(async page => {
  await says(page, 'Nothing to display');
  await page.click('#picture');
  await says(page, 'select a dataset in the tree');
  await page.click('#picture');
  await pick(page, '/g');
  await page.getByText('Inspect').click();
  await says(page, 'nothing here');
}, make(folder, 'none', 'root: {attrs: {title: nothing here}, g: {attrs: {title: nothing here}}}\n')));

test('no elements, one, NaN alone, equal ones, the greatest', async () => {
  const file = make(folder, 'odd', `dims: {none: 0, n: 5}
root:
  empty: {dataset: DOUBLE, dims: [none, n]}
  empty1: {dataset: INT, shape: [0]}
  "null": {dataset: INT, shape: null}
  scalar: {dataset: DOUBLE, data: 2.5}
  nan: {dataset: DOUBLE, shape: [3, 4], fill: .nan}
  nan1: {dataset: DOUBLE, shape: [4], fill: .nan}
  inf: {dataset: DOUBLE, shape: [2, 2], data: [[.inf, -.inf], [1, .nan]]}
  constant: {dataset: FLOAT, shape: [3, 4], fill: 7}
  one: {dataset: FLOAT, shape: [1, 1], data: [[3]]}
  zero: {dataset: INT, shape: [4], fill: 0}
  huge: {dataset: DOUBLE, shape: [2, 3], data: [[1.0e+308, -1.0e+308, 1], [2, 3, 4]]}
  big: {dataset: INT64_T, shape: [2, 2], data: [[9223372036854775807, -9223372036854775808], [1, 2]]}
`);
  const drawn = [/./, ''], cases = {
    empty: [/^empty has no elements: its shape is 0 \u00d7 5/, 'has no elements'], empty1: [/^empty1 has no elements: its shape is 0/, 'has no elements'],
    null: [/Nothing to display/, 'one value, or of none'], scalar: [/^2\.5$/, 'one value, or of none'],
    nan: [/./, 'no number to show'], nan1: [/./, 'no number to show'], inf: drawn, constant: drawn, one: drawn, zero: drawn, huge: drawn, big: drawn};
  await withPage(async page => {
    for (const [name, [words, picture]] of Object.entries(cases)) {
      await pick(page, `/${name}`);
      if (words.source === '.') await page.waitForSelector('canvas'); else await says(page, words);
      await page.evaluate(() => { delete window.datarep.picture; });
      await page.click('#picture');
      if (picture) await page.locator('.said', {hasText: picture}).waitFor();
      else await page.waitForFunction(() => window.datarep.picture);
      await page.click('#picture');
    }
  }, file);
});

test('names with %, #, ?, &, a new line, marks of direction', async () => {
  const names = ['a%20b%', 'x#y', 'q?a=1&b=2', 'new\nline', '\u202ertl', '[0]', ' ', 'back\\slash', '...', '"', "'", 'a (every 2nd)', '0 \u2026 499'];
  const file = make(folder, 'n%20#?&\u202e', `root:\n${names.map((n, i) => `  ${JSON.stringify(n)}: {dataset: INT, shape: [2], data: [${i}, ${i + 100}], attrs: {${JSON.stringify(n)}: ${i}}}`).join('\n')}\n`);
  const check = async page => {
    for (const [i, name] of names.entries()) {
      const got = await page.evaluate(async path => {
        const {api} = window.datarep, dataset = await api.getEntity(path);
        return [Array.from(await api.getValue({dataset})), await api.getAttrValues(dataset)];
      }, `/${name}`);
      assert.deepEqual([got[0], Object.keys(got[1]), Number(got[1][name])], [[i, i + 100], [name], i], JSON.stringify(name));
      await pick(page, `/${name}`);
      await page.waitForSelector('canvas');
      await page.click('#picture');
      await page.waitForFunction(n => window.datarep.picture?.from === n, `/${name}`);
      await page.click('#picture');
    }
  };
  await withPage(check, file);
  const site = join(folder, 'hostile-site');
  run('view', '--export', site, file);
  const server = await nginx(site);
  await withPage(async page => {
    await page.goto(server.address);
    await opened(page);
    await check(page);
    await drop(page, file);
    await page.locator('[data-path="/x#y"]').waitFor();
  });
  server.end();
});

test('an attribute of 64 MiB is shown by its beginning', async () => {
  const file = make(folder, 'long', `root: {x: {dataset: INT, data: 1, attrs: {small: fine, text: "${'y'.repeat(63 * 2 ** 20)}"}}}\n`);
  await withPage(async page => {
    await pick(page, '/x');
    await page.getByText('Inspect').click();
    await page.getByRole('rowheader', {name: 'text'}).waitFor();
    const shown = await page.locator('.view').innerText();
    assert.match(shown, /y\u2026 \(66060288 characters\)/);
    assert.ok(shown.length < 100000 && shown.includes('fine'), `${shown.length} characters`);
    await shot(page, 'long-attribute');
  }, file);
});

test('a dataset of 2^40 elements and a plane of 10^5 x 10^5: words, no picture, no hang', () => withPage(async page => {
  for (const name of ['cube', 'plane']) {
    await pick(page, `/${name}`);
    await says(page, /elements of \d bytes are more than the limit/);
    await page.click('#picture');
    await page.locator('.said', {hasText: 'more than the limit'}).waitFor();
    await page.click('#picture');
  }
}, made.large));

test('two tabs: the second needs no code, and neither disturbs the other', () => withPage(async (page, server) => {
  const {page: two, wrong} = await newPage(b, page.context());
  await two.goto(server.address);
  await opened(two);
  await Promise.all([page, two].map(async (p, i) => {
    await pick(p, i ? '/a' : '/b');
    await p.waitForSelector('canvas');
  }));
  await two.close();
  await pick(page, '/small');
  await page.getByText('Matrix', {exact: true}).first().waitFor();
  assert.deepEqual(wrong, []);
}, noise()));
