// screenshot.mjs - makes the picture of `datarep view` in TUTORIAL.md, from the file that the tutorial makes.
//
// Usage: node tests/web/screenshot.mjs [PNG]    after `make` and `make web`; look at what it made
// SPDX-License-Identifier: MIT
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {delimiter, dirname, join} from 'node:path';
import {DATAREP, SRCDIR, browser, endAll, enter, newPage, select, view} from './page.mjs';

const MOST = 150000; // bytes
const png = process.argv[2] ?? `${SRCDIR}/tests/docs/pictures/view.png`;
const folder = mkdtempSync(join(tmpdir(), 'screenshot-'));
const tutorial = readFileSync(`${SRCDIR}/TUTORIAL.md`, 'utf8');
const [, schema, commands] = /<!-- test: file sea.yaml -->\n```yaml\n([^]*?)```[^]*?```sh\n([^]*?)```/.exec(tutorial);

const b = await browser();
try {
  writeFileSync(join(folder, 'sea.yaml'), schema);
  execFileSync('sh', ['-ec', commands], {cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], env: {...process.env, PATH: dirname(DATAREP) + delimiter + process.env.PATH}});
  const server = await view(folder, join(folder, 'sea.drep')), {page, wrong} = await newPage(b);
  await page.setViewportSize({width: 860, height: 520});
  await enter(page, server);
  await select(page, 'sst');
  await page.getByText('lat (degrees_north)').or(page.locator('canvas')).first().waitFor();
  await page.click('#picture');
  await page.waitForFunction(() => window.datarep.picture?.map);
  await page.click('#picture');
  await page.locator('[data-path="/"]').first().click();
  await page.getByText('lat (degrees_north)').waitFor();
  await page.waitForTimeout(1500);
  await page.screenshot({path: png});
  if (wrong.length) throw new Error(wrong.join('\n'));
  if (statSync(png).size > MOST) throw new Error(`${png}: ${statSync(png).size} bytes, more than ${MOST}`);
  console.log(`${png}: ${statSync(png).size} bytes`);
} finally {
  endAll();
  await b.close();
  rmSync(folder, {recursive: true});
}
