// source.js - where the bytes of a file come from.
//
// A source has `size`, `name` and either take(offset, target), which fills a Uint8Array at once, or
// fetch(offset, size, signal), a promise of the bytes.
// SPDX-License-Identifier: MIT
import {DatarepError} from './instance.js';

const FIRST = 65536, WHOLE_MOST = 64 * 2 ** 20;

export function bytesSource(bytes, name = 'file') {
  return {name, size: bytes.length, take: (at, to) => to.set(bytes.subarray(at, at + to.length))};
}

/** A Blob, as a dropped file is. */
export function blobSource(blob) {
  return {
    name: blob.name ?? 'file', size: blob.size,
    async fetch(at, n) {
      const b = await blob.slice(at, at + n).arrayBuffer()
        .catch(e => { throw new DatarepError(`${blob.name ?? 'file'}: it cannot be read, or has changed: open it again (${e.message})`); });
      return new Uint8Array(b);
    },
  };
}

// The connection may end before the answer does.
const bodyOf = async (response, name) => new Uint8Array(await response.arrayBuffer().catch(e => {
  throw e.name === 'AbortError' ? e : new DatarepError(`${name}: the answer breaks off (${e.message})`);
}));

async function whole(response, name) {
  const most = +(response.headers.get('Content-Length') ?? 0);
  const parts = [];
  let size = 0;
  if (most <= WHOLE_MOST)
    for (const reader = response.body.getReader(); ;) {
      const {done, value} = await reader.read();
      if (done) break;
      parts.push(value);
      if ((size += value.length) > WHOLE_MOST) { await reader.cancel(); break; }
    }
  else await response.body?.cancel();
  if (most > WHOLE_MOST || size > WHOLE_MOST)
    throw new DatarepError(`${name}: the server does not serve ranges of bytes, and the file is larger than 64 MiB`);
  const all = new Uint8Array(size);
  parts.reduce((at, p) => (all.set(p, at), at + p.length), 0);
  return all;
}

// Whatever has a user or a signature in it is not for messages.
const shown = url => { const u = new URL(url); return u.origin + u.pathname; };

/** A file on a web server, read by ranges; the first says its size.  All answers must be of one
 * version of it: the ETag, where the server shows it, and the size stay. */
export async function urlSource(url, {fetch = globalThis.fetch, signal, name = shown(url)} = {}) {
  let etag, size;
  async function range(at, n, signal) {
    const r = await fetch(url, {headers: {Range: `bytes=${at}-${at + n - 1}`}, cache: 'no-store', signal})
      .catch(e => { throw e.name === 'AbortError' ? e : new DatarepError(`${name}: the server does not answer (${e.message})`); });
    if (r.status === 416) throw new DatarepError(size === undefined ? `${name}: the file is empty` : `${name}: the file has changed: open it again`);
    if (r.status !== 206 && (r.status !== 200 || size !== undefined)) {
      await r.body?.cancel();
      throw new DatarepError(`${name}: the server answers ${r.status} ${r.statusText}`);
    }
    return r;
  }
  const first = await range(0, FIRST, signal);
  if (first.status === 200) return {...bytesSource(await whole(first, name), name), requests: 1};
  const total = /\/(\d+)$/.exec(first.headers.get('Content-Range') ?? '');
  if (!total)
    throw new DatarepError(`${name}: the server does not show Content-Range to this page ` +
      '(Access-Control-Expose-Headers: Content-Range, ETag)');
  size = +total[1];
  etag = first.headers.get('ETag');
  const head = await bodyOf(first, name);
  if (head.length !== Math.min(size, FIRST)) throw new DatarepError(`${name}: the server sent other bytes than it was asked for`);
  return {
    name, size, head,
    async fetch(at, n, signal) {
      const r = await range(at, n, signal);
      const now = r.headers.get('ETag'), says = r.headers.get('Content-Range');
      const b = await bodyOf(r, name);
      if ((etag ?? now) !== now || !says.endsWith('/' + size)) throw new DatarepError(`${name}: the file has changed: open it again`);
      if (b.length !== n || !says.startsWith(`bytes ${at}-`))
        throw new DatarepError(`${name}: the server sent other bytes than it was asked for`);
      return b;
    },
  };
}
