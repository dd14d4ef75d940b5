// worker.js - holds the open file; answers the page's calls.
// SPDX-License-Identifier: MIT
import {load, open} from 'datarep-wasm';

load().catch(() => {}); // open() says what went wrong

let file = null, coast;
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
  plot: ({operand, ...options}, work) => file.plot(operand, {...options, ...work}),
  // Coastlines are a file of the page; an empty list where it was built without.
  async coast({what, ...box}, work) {
    coast ??= open(what, work).catch(() => null);
    return (await coast)?.coast(box, work) ?? new Float64Array(0);
  },
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
    if (!file && !['open', 'stats', 'coast'].includes(op)) throw new Error('no file is open');
    const result = await calls[op](args ?? {}, {signal: stop.signal, progress: done => postMessage({id, progress: done})});
    const buffers = [result?.data, result?.image?.cells].map(a => a?.buffer).filter(b => b instanceof ArrayBuffer);
    postMessage({id, result}, buffers);
  } catch (e) {
    postMessage({id, error: String(e?.message ?? e), aborted: e?.name === 'AbortError'});
  } finally {
    stops.delete(id);
  }
};
