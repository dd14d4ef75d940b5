// start.js - begins what takes longest: the worker with the core, the first file; then the viewer is loaded.
// SPDX-License-Identifier: MIT
import '@h5web/app/styles.css';
import './style.css';
import {call} from './client.js';

/** Opens a file in the worker: done, a promise of its header; stop; told, set by who wants to know of bytes. */
export function begin(what, name) {
  const begun = {stop: new AbortController(), told: null};
  begun.done = call('open', {what, name}, {signal: begun.stop.signal, progress: d => begun.told?.(d)});
  begun.done.catch(() => {}); // who shows it says so
  return begun;
}

export const addressOf = file => new URL(file.url, document.baseURI).href;

// The files that the server or the exported folder names: [{name, url, path}]; path: shown first.
async function listed() {
  const response = await fetch('files.json', {cache: 'no-store'}).catch(() => null);
  return response?.ok ? response.json() : [];
}

/** {files, begun}: the list, and the first of them, opened. */
export const first = listed().then(files => ({files, begun: files.length ? begin(addressOf(files[0]), files[0].name) : null}));
first.catch(() => {});
import('./main.jsx');
