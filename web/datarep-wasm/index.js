// index.js - datarep-wasm in a browser: a page or a worker.
// SPDX-License-Identifier: MIT
import {DatarepFile} from './file.js';
import {loader} from './instance.js';
import {blobSource, bytesSource, urlSource} from './source.js';

export {DatarepError} from './instance.js';
export {DatarepFile};

/** Loads and compiles the core, once; a program may begin that before it opens a file. */
export const load = loader(async () => {
  const response = await fetch(new URL('./core.wasm', import.meta.url));
  if (!response.ok) throw new Error(`core.wasm: ${response.status}`);
  return response.headers.get('Content-Type') === 'application/wasm' ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
});

/** Opens a file: a URL, a Blob (a dropped file), or the bytes in an ArrayBuffer or Uint8Array. */
export async function open(what, options = {}) {
  const code = load();
  let source;
  if (what instanceof Blob) source = blobSource(what);
  else if (what instanceof Uint8Array || what instanceof ArrayBuffer) source = bytesSource(new Uint8Array(what));
  else source = await urlSource(new URL(what, globalThis.location?.href), options);
  return DatarepFile.open(await code, source, options);
}
