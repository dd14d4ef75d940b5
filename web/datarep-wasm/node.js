// node.js - datarep-wasm in Node: files, and what index.js opens.
// SPDX-License-Identifier: MIT
import {closeSync, fstatSync, openSync, readSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';
import {DatarepFile} from './file.js';
import {blobSource, bytesSource, urlSource} from './source.js';
import {DatarepError, loader} from './instance.js';

export {DatarepError, DatarepFile};

function fileSource(path) {
  const fd = openSync(path), stat = fstatSync(fd);
  if (!stat.isFile()) {
    closeSync(fd);
    throw new DatarepError(`${path}: not a regular file`);
  }
  return {
    name: path, size: stat.size,
    take(at, to) {
      for (let done = 0, n; done < to.length; done += n)
        if (!(n = readSync(fd, to, done, to.length - done, at + done)))
          throw new DatarepError(`${path}: the file became shorter`);
    },
    close: () => closeSync(fd),
  };
}

/** Loads and compiles the core, once; a program may begin that before it opens a file. */
export const load = loader(async () => WebAssembly.compile(await readFile(new URL('./core.wasm', import.meta.url))));

/** Opens a file: a path, a URL (http, https, file), a Blob, or the bytes in an ArrayBuffer or Uint8Array. */
export async function open(what, options = {}) {
  const code = await load();
  let source;
  if (what instanceof Blob) source = blobSource(what);
  else if (what instanceof Uint8Array || what instanceof ArrayBuffer) source = bytesSource(new Uint8Array(what));
  else if (/^https?:/.test(String(what))) source = await urlSource(String(what), options);
  else source = fileSource(/^file:/.test(String(what)) ? fileURLToPath(what) : String(what));
  try {
    return await DatarepFile.open(code, source, options);
  } catch (e) {
    source.close?.();
    throw e;
  }
}
