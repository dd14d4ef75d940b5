// vectors.test.mjs - every kind of dataset in the vectors, read in Node.
// SPDX-License-Identifier: MIT
import assert from 'node:assert';
import {readdirSync} from 'node:fs';
import {resolve} from 'node:path';
import {test} from 'node:test';
import {arrayDiffers, dump, walk} from './dump.mjs';

const {SRCDIR = '.', BUILDDIR = 'build', DATAREP = `${BUILDDIR}/release/datarep`} = process.env;
const {open} = await import(resolve(BUILDDIR, 'web/datarep-wasm/node.js'));

// What the page leaves out: filters whose libraries are not compiled in, other files, functions.
const LEFT_OUT = /filter|lzf|blosc|drep_external|other files|file system|conversion functions|is not (registered|available)|plugin|functions|bias .* is too large/;
let left = 0;

const files = folder => readdirSync(`${SRCDIR}/tests/vectors/${folder}`).filter(f => f.endsWith('.drep')).map(f => `${SRCDIR}/tests/vectors/${folder}${f}`);

async function compare(file) {
  const {document, message} = dump(DATAREP, file);
  let f;
  try {
    f = await open(file);
  } catch (e) {
    if (document?.root) throw e;
    return 0;
  }
  if (!document?.root) { f.close(); return 0; } // refused in a place that only a whole walk sees
  const read = async (what, fn, want) => {
    let r;
    try {
      r = await fn();
    } catch (e) {
      if (!message && !LEFT_OUT.test(e.message)) return `${what}: ${e.message}`;
      left++;
      return null;
    }
    return want === undefined ? null : arrayDiffers(r, want, what);
  };
  const {found, values} = await walk(document, {
    dataset: (path, o) => read(path, () => f.read(path), message ? undefined : o.data),
    attribute: (path, name, a) => read(`${path}@${name}`, () => f.readAttribute(path, name), a.value),
  });
  assert.deepEqual(found, []);
  assert.ok(f.stats.heap < 128 * 2 ** 20);
  f.close();
  return values;
}

let values = 0;
for (const folder of ['', 'machines/'])
  test(`vectors/${folder}: values are those of dump`, async t => {
    for (const file of files(folder))
      await t.test(file, async () => { values += await compare(file); });
  });
test('vectors/bad/: an error or a right value', async t => {
  for (const file of files('bad/')) await t.test(file, async () => {
    try {
      const f = await open(file);
      for (const p of await f.paths('/')) { const o = await f.get(p); if (o.kind === 'dataset') await f.read(p); }
    } catch (e) { assert.equal(e.name, 'DatarepError'); assert.ok(e.message.length > 5); assert.doesNotMatch(e.message, /core failed/); }
  });
});
test('there were values to compare', () => assert.ok(values > 2000, `${values} values`));
process.on('exit', () => console.log(`# counted: ${values} values of the vectors in Node, ${left} of them left out for want of a filter, a file or functions`));
