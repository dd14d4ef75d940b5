// client.js - calls of the page to its worker.
// SPDX-License-Identifier: MIT

const worker = new Worker(new URL('./worker.js', import.meta.url), {type: 'module'});
const waiting = new Map();
let last = 0;

worker.onmessage = ({data: {id, result, error, aborted, progress}}) => {
  const call = waiting.get(id);
  if (!call) return;
  if (progress) { call.progress?.(progress); return; }
  waiting.delete(id);
  if (!performance.getEntriesByName(call.op, 'mark').length) performance.mark(call.op); // the first of each, for who measures
  if (aborted) call.no(Object.assign(new Error('cancelled'), {name: 'AbortError'}));
  else if (error !== undefined) call.no(new Error(error));
  else call.ok(result);
};
worker.onerror = e => {
  for (const {no} of waiting.values()) no(new Error(e.message || 'the worker ended'));
  waiting.clear();
};

/** Calls the worker.  signal cancels; progress is told of requests, bytes and rounds. */
export function call(op, args, {signal, progress} = {}) {
  return new Promise((ok, no) => {
    const id = ++last;
    waiting.set(id, {op, ok, no, progress});
    signal?.addEventListener('abort', () => worker.postMessage({cancel: id}), {once: true});
    worker.postMessage({id, op, args});
  });
}
