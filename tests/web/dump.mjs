// dump.mjs - compares what JavaScript reads with what `datarep dump --json` says of the same file.
// SPDX-License-Identifier: MIT
import {spawnSync} from 'node:child_process';

/** The document of a file, or null and the message. */
export function dump(command, file) {
  const r = spawnSync(command, ['dump', '--json', file], {encoding: 'utf8', maxBuffer: 1 << 30});
  if (r.error || r.status === null) throw r.error ?? new Error(`${command} ended by ${r.signal}`);
  try {
    return {document: JSON.parse(r.stdout), message: r.stderr, status: r.status};
  } catch {
    return {document: null, message: r.stderr, status: r.status};
  }
}

const NAMED = {nan: NaN, '-nan': NaN, inf: Infinity, '-inf': -Infinity};

// A number of any length as the sign, a whole number and a power of two, rounded to a double (ties to even).
function hexadecimal(j) {
  const [, sign, whole, rest = '', power] = /^(-?)0x([0-9a-f]+)(?:\.([0-9a-f]*))?p([+-]\d+)$/.exec(j);
  let n = BigInt('0x' + whole + rest), e = Number(power) - 4 * rest.length;
  const bits = n.toString(2).length, keep = Math.min(53, bits + e + 1074), drop = bits - keep;
  if (keep < 0) return sign ? -0 : 0;
  if (drop > 0) {
    const half = 1n << BigInt(drop - 1), low = n & (2n * half - 1n);
    n >>= BigInt(drop);
    if (low > half || (low === half && n & 1n)) n++;
    e += drop;
  }
  let v = Number(n);
  for (; e > 1000; e -= 1000) v *= 2 ** 1000;
  for (; e < -1000 && v; e += 1000) v *= 2 ** -1000; // exact: what is kept fits
  return (sign ? -1 : 1) * v * 2 ** e;
}

const real = j => typeof j !== 'string' ? j : j in NAMED ? NAMED[j] : j.includes('0x') ? hexadecimal(j) : Number(j);

// Bytes that are no UTF-8 are lone surrogates in the JSON, and U+FFFD here.
function text(j) {
  const bytes = [];
  for (const c of j) {
    const p = c.codePointAt(0);
    if (p >= 0xdc80 && p <= 0xdcff) bytes.push(p - 0xdc00);
    else bytes.push(...new TextEncoder().encode(c));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

function sameReal(t, v, j) {
  const want = real(j);
  if (Object.is(v, want) || (Number.isNaN(v) && Number.isNaN(want))) return true;
  if (t.size === 4 && Object.is(v, Math.fround(want))) return true;
  // A decimal of another format is rounded to a double once more.
  const exact = ['DOUBLE', 'FLOAT', 'REAL', 'DOUBLE_PRECISION', 'REAL4', 'REAL8'].includes(t.name);
  return !exact && Math.abs(v - want) <= Math.abs(want) * 2 ** -52;
}

const digits = x => String(x).replace(/n$/, '');
const hex = b => Array.from(b, x => x.toString(16).padStart(2, '0')).join('');

/** Whether a value with this layout is what the JSON says; what: for the message. */
export function differs(t, v, j, what) {
  const no = () => `${what}: ${t.k} ${typeof v === 'bigint' ? v : JSON.stringify(v, (k, x) => typeof x === 'bigint' ? String(x) : x)} is not ${JSON.stringify(j)}`;
  switch (t.k) {
    case 'f': return sameReal(t, v, j) ? null : no();
    case 'c': { const p = {...t, size: t.size / 2, name: 'part'}; return sameReal(p, v[0], j[0]) && sameReal(p, v[1], j[1]) ? null : no(); }
    case 'b': return Boolean(v) === j ? null : no();
    case 'i': case 'u': case 'w': case 'x': return digits(v) === digits(j) ? null : no();
    case 'e': return (Object.hasOwn(t.names, digits(v)) ? text(t.names[digits(v)]) : digits(v)) === text(String(j)) ? null : no();
    case 'a': case 'U': case 's': case 'S': return (typeof j === 'string' ? text(j) : j) === v ? null : no();
    case 'o': return hex(v) === j ? null : no();
    case 'R': return JSON.stringify(v) === JSON.stringify(j) ? null : no();
    case 'A': case 'V': { const f = t.k === 'A' ? j.flat(t.dims.length - 1) : j; return list(t.base, v, f, what); }
    case 'T': return firstOf(t.fields, (f, i) => differs(f.t, v[i], j[i], `${what}.${i}`));
    case 'C': return firstOf(t.fields, (f, i) => differs(f.t, Array.isArray(v) ? v[i] : v[f.name], j[f.name], `${what}.${f.name}`));
    default: return no();
  }
}

function firstOf(all, fn) {
  for (const [i, x] of all.entries()) { const r = fn(x, i); if (r) return r; }
  return null;
}

function list(t, v, j, what) {
  if (v.length !== j.length) return `${what}: ${v.length} elements, not ${j.length}`;
  for (let i = 0; i < v.length; i++) { const r = differs(t, v[i], j[i], `${what}[${i}]`); if (r) return r; }
  return null;
}

/** Compares an array or a single value of a shape. */
export function arrayDiffers({type, shape, data}, j, what) {
  if (shape === null || data === null) return j === null ? null : `${what}: no elements, not ${JSON.stringify(j)}`;
  if (shape.length === 0) return differs(type, data, j, what);
  return list(type, data, j.flat(shape.length - 1), what);
}

const below = (path, name) => (path === '/' ? '' : path) + '/' + name;

/** Walks a document; calls dataset(path, object) and attribute(path, name, value), which return what
 * differs.  All differences, at most 20, and how many values there were. */
export async function walk(document, {dataset, attribute}) {
  const found = [];
  let values = 0;
  const note = r => { values++; if (r && found.length < 20) found.push(r); };
  async function object(path, o) {
    for (const [name, a] of Object.entries(o.attributes ?? {}))
      if (a && 'value' in a) note(await attribute(path, name, a));
    if (o.kind === 'dataset' && 'data' in o) note(await dataset(path, o));
    for (const [name, d] of Object.entries(o.dimensions ?? {}))
      if (o.kind === 'group') for (const [n, a] of Object.entries(d.attributes ?? {})) if (a && 'value' in a) note(await attribute(`${path}#${name}`, n, a));
    for (const [name, m] of Object.entries(o.members ?? {})) await object(below(path, name), m);
  }
  await object('/', document.root);
  return {found, values};
}
