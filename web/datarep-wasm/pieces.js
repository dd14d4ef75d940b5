// pieces.js - a large selection as several small ones, along its first dimension.
//
// The core's memory cannot shrink, so that it reads little at once; the whole is put together outside.
// SPDX-License-Identifier: MIT
import {arrayOf} from './values.js';

// The indices of one dimension that a part of a selection names, or null.
function range(part, length) {
  const [, one, from = '', to = '', step = '1'] = /^(?:(\d+)|(\d*):(\d*)(?::(\d+))?)$/.exec(part.trim()) ?? [];
  const r = one === undefined ? {from: +from, to: to ? +to : length, step: +step} : {from: +one, to: +one + 1, step: 1, single: true};
  return part.trim() && r.step > 0 && r.from < r.to && r.to <= length ? {...r, n: Math.ceil((r.to - r.from) / r.step)} : null;
}

/** Selections of at most about `most` bytes, as many whole chunks as these hold, at least one; their elements
 * follow each other in the whole.  {selects, n, shape}; null: it is not numbers, not simple, or not less
 * than `limit`, and the core decides. */
export function pieces({t, dims, chunk}, select, limit, most) {
  const parts = select === '' ? dims?.map(() => ':') : /^\[([^[\]]*)\]$/.exec(select)?.[1].split(',');
  if (!dims?.length || !arrayOf(t) || parts?.length !== dims.length) return null;
  const ranges = parts.map((p, d) => range(p, dims[d]));
  if (!ranges.every(Boolean)) return null;
  const cut = ranges.findIndex(r => r.n > 1), n = ranges.reduce((a, r) => a * r.n, 1);
  if (cut < 0 || n * t.size > limit) return null;
  const {from, to, step, n: rows} = ranges[cut], whole = chunk?.[cut] > 0 && step === 1 ? chunk[cut] : 1;
  const per = Math.max(whole, Math.floor(most / (n / rows * t.size) / whole) * whole), selects = [];
  for (let at = from; at < to;) {
    // Contiguous ones end where chunks end.
    const end = Math.min(step === 1 ? at - at % whole + per : at + per * step, to);
    selects.push(`[${parts.map((p, d) => d === cut ? `${at}:${end}:${step}` : p || ':').join(',')}]`);
    at = step === 1 ? end : at + per * step;
  }
  return {selects, n, shape: ranges.filter(r => !r.single).map(r => r.n)};
}
