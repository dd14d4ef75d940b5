// mutants.test.mjs - damaged files in Node: an error or values, no trap, no hang, bounded memory.
//
// MUTANTS (200) files from MUTANTS_SEED (1) on, half of them with right sums on the way to the damage.
// SPDX-License-Identifier: MIT
import assert from 'node:assert';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {test} from 'node:test';

const {SRCDIR = '.', BUILDDIR = 'build', MUTANTS = '200', MUTANTS_SEED = '1'} = process.env;
const {open} = await import(resolve(BUILDDIR, 'web/datarep-wasm/node.js'));
const SECONDS = 10, HEAP = 192 * 2 ** 20;

async function readAll(file) {
  const f = await open(file);
  try {
    for (const path of (await f.paths('/')).slice(0, 2000)) {
      const o = await f.get(path).catch(() => null);
      for (const a of o?.attrs ?? []) await f.readAttribute(path, a.name, {limit: 2 ** 25}).catch(check);
      if (o?.kind === 'dataset') await f.read(path, {limit: 2 ** 25}).catch(check);
      if (o?.kind === 'dataset') await f.plot(path + (o.dims?.length > 2 ? `[${o.dims.slice(2).map(() => 0)},:,:]` : '')).catch(check);
      if (o?.kind === 'group') await f.list(path).catch(check);
    }
  } finally {
    assert.ok(f.stats.heap <= HEAP, `heap of ${f.stats.heap} bytes`);
    f.close();
  }
}

function check(e) {
  assert.equal(e.name, 'DatarepError', e.stack);
  assert.doesNotMatch(e.message, /the core (failed|ended)/);
}

test(`${MUTANTS} damaged files`, async () => {
  const folder = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'mutants-'));
  const sources = readdirSync(`${SRCDIR}/tests/vectors`).filter(f => f.endsWith('.drep')).map(f => `${SRCDIR}/tests/vectors/${f}`);
  try {
    const r = spawnSync(`${BUILDDIR}/release/tests/fault/mutants`, [MUTANTS, MUTANTS_SEED, ...sources],
      {env: {...process.env, MUTANT_FOLDER: folder}, encoding: 'utf8'});
    assert.equal(r.status, 0, r.stderr);
    let readable = 0, slowest = 0;
    for (const name of readdirSync(folder)) {
      const began = performance.now();
      try {
        await readAll(join(folder, name));
        readable++;
      } catch (e) {
        if (e.name !== 'DatarepError') throw new Error(`seed ${name}: ${e.stack}`);
        check(e);
      }
      slowest = Math.max(slowest, performance.now() - began);
    }
    assert.ok(slowest < SECONDS * 1000, `a file took ${slowest} ms`);
    console.log(`# counted: ${MUTANTS} damaged files in Node, ${readable} of which could be opened; the slowest took ${Math.round(slowest)} ms`);
  } finally {
    rmSync(folder, {recursive: true});
  }
});
