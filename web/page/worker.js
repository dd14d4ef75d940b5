// worker.js - holds the open file; answers the page's calls.
// SPDX-License-Identifier: MIT
import {load, open} from 'datarep-wasm';

load().catch(() => {}); // open() says what went wrong

const TEXT = 65536; // characters of an attribute that are shown

let file = null, coast;
const stops = new Map(); // calls under way that may be cancelled

// A text that no page can show is its beginning.
function cut(data) {
  if (Array.isArray(data)) return data.map(cut);
  return typeof data === 'string' && data.length > TEXT ? `${data.slice(0, TEXT)}\u2026 (${data.length} characters)` : data;
}

const calls = {
  async open({what, name}, work) {
    file?.close();
    file = null;
    file = await open(what, {name, ...work});
    return file.header;
  },
  get: ({path}, work) => file.get(path, work),
  list: ({path, skip, limit}, work) => file.list(path, {skip, limit, ...work}),
  paths: ({path}, work) => file.paths(path, work),
  read: ({path, ...options}, work) => file.read(path, {...options, records: true, ...work}),
  async attribute({path, name}, work) {
    const result = await file.readAttribute(path, name, {records: true, ...work});
    return {...result, data: cut(result.data)};
  },
  plot: ({operand, ...options}, work) => file.plot(operand, {...options, ...work}),
  // Coastlines are a file of the page; an empty list where it was built without.
  async coast({what, ...box}, work) {
    coast ??= open(what, work).catch(() => null);
    return (await coast)?.coast(box, work) ?? new Float64Array(0);
  },
  stats: () => file?.stats ?? null,
};

// What another program could read is no fault of the file.
const LACKS = /\bfilter\b.* is not (built in|here|registered)|compressor is not built in/s;
const explained = message => LACKS.test(message) ? `${message}: this page lacks it. The command datarep may have it: ` +
  'datarep convert --filters=zstd:3 makes a copy that the page can show.' : message;

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
    postMessage({id, error: explained(String(e?.message ?? e)), aborted: e?.name === 'AbortError'});
  } finally {
    stops.delete(id);
  }
};
