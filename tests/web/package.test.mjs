// package.test.mjs - `npm pack`, and the program of README.md with what it gave.
// SPDX-License-Identifier: MIT
import assert from 'node:assert';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {test} from 'node:test';

const {SRCDIR = '.', BUILDDIR = 'build', DATAREP = `${BUILDDIR}/release/datarep`} = process.env;
const built = resolve(BUILDDIR, 'web/datarep-wasm');

test('the package has all that it needs, and its README holds', () => {
  const folder = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'package-'));
  const run = (command, ...args) => execFileSync(command, args, {cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
  try {
    const archive = JSON.parse(run('npm', 'pack', '--json', '--ignore-scripts', built))[0];
    const names = archive.files.map(f => f.path);
    for (const name of ['core.wasm', 'index.js', 'node.js', 'index.d.ts', 'README.md', 'LICENSE', 'LICENSES.txt', 'package.json'])
      assert.ok(names.includes(name), `${name} is in the package`);
    assert.deepEqual(names.filter(n => !/\.(js|ts|wasm|md|txt|json)$|^LICENSE$/.test(n)), []);
    console.log(`# counted: ${archive.size} bytes of the package datarep-wasm`);
    writeFileSync(join(folder, 'package.json'), '{"private": true}');
    run('npm', 'install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', join(folder, archive.filename));
    const program = /<!-- test: node -->\n```js\n([^]*?)```/.exec(readFileSync(`${SRCDIR}/web/datarep-wasm/README.md`, 'utf8'))[1];
    assert.ok(program.trim().split('\n').length <= 10);
    writeFileSync(join(folder, 'program.mjs'), program);
    writeFileSync(join(folder, 'sst.yaml'), 'dims: {lat: 2, lon: 3}\nroot: {sst: {dataset: DOUBLE, dims: [lat, lon], attrs: {units: K}, data: [[271.5, 272, 273.25], [290, 291.5, 300]]}}\n');
    run(resolve(DATAREP), 'create', '-s', 'sst.yaml', 'sst.drep');
    assert.equal(run('node', 'program.mjs', 'sst.drep'), [
      'dataset sst', '[ 3 ] Float64Array(3) [ 271.5, 272, 273.25 ]', "[Object: null prototype] { units: 'K' }", ''].join('\n'));
  } finally {
    rmSync(folder, {recursive: true});
  }
});
