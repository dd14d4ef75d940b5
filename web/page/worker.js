// worker.js - holds the open file; answers the page's calls.
// SPDX-License-Identifier: MIT
import {open} from 'datarep-wasm';

let file = null;
const stops = new Map(); // calls under way that may be cancelled

const calls = {
  async open({what}, work) {
    file?.close();
    file = null;
    file = await open(what, work);
    return file.header;
  },
  get: ({path}, work) => file.get(path, work),
  list: ({path, skip, limit}, work) => file.list(path, {skip, limit, ...work}),
  paths: ({path}, work) => file.paths(path, work),
  read: ({path, ...options}, work) => file.read(path, {...options, records: true, ...work}),
  attribute: ({path, name}, work) => file.readAttribute(path, name, {records: true, ...work}),
  stats: () => file?.stats ?? null,
};

onmessage = async ({data: {id, op, args, cancel}}) => {
  if (cancel) {
    stops.get(cancel)?.abort();
    return;
  }
  const stop = new AbortController();
  stops.set(id, stop);
  try {
    if (!file && op !== 'open' && op !== 'stats') throw new Error('no file is open');
    const result = await calls[op](args ?? {}, {signal: stop.signal, progress: done => postMessage({id, progress: done})});
    const buffer = result?.data?.buffer;
    postMessage({id, result}, buffer instanceof ArrayBuffer ? [buffer] : []);
  } catch (e) {
    postMessage({id, error: String(e?.message ?? e), aborted: e?.name === 'AbortError'});
  } finally {
    stops.delete(id);
  }
};
