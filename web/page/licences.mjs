// licences.mjs FOLDER - the licences of the packages that the page may contain, for those who get it.
// Fails for one that MIT, BSD, ISC and the like do not cover.
// SPDX-License-Identifier: MIT
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';

const folder = process.argv[2], lock = JSON.parse(readFileSync(join(folder, 'package-lock.json')));
const FINE = /^\(?(MIT|ISC|0BSD|BSD-[23]-Clause|Unlicense|CC0-1\.0)( (OR|AND|and) (MIT|ISC|BSD-3-Clause|CC0-1\.0))*\)?$/;
for (const [path, {dev, optional, peer}] of Object.entries(lock.packages)) {
  if (!path || dev || optional || peer || !existsSync(join(folder, path))) continue;
  const {name, version, license} = JSON.parse(readFileSync(join(folder, path, 'package.json')));
  if (!FINE.test(license ?? '')) throw new Error(`${name}: the licence ${license} is not known here`);
  const text = readdirSync(join(folder, path)).find(f => /^licen[cs]e/i.test(f));
  console.log(`==== ${name} ${version}: ${license}\n\n${text ? readFileSync(join(folder, path, text), 'utf8').trim() : ''}\n`);
}
