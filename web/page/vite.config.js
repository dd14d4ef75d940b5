// vite.config.js - how the page is packed: no inlined data, no code from text.
// SPDX-License-Identifier: MIT
import {fileURLToPath} from 'node:url';
import react from '@vitejs/plugin-react';

const here = name => fileURLToPath(new URL(name, import.meta.url));

// The page asks for the viewer at once, not when the first module does.
const early = {
  name: 'early',
  transformIndexHtml: {
    order: 'post',
    handler: (html, {bundle = {}}) => Object.values(bundle).filter(c => c.isDynamicEntry).map(c =>
      ({tag: 'link', attrs: {rel: 'modulepreload', href: `./${c.fileName}`}, injectTo: 'head'})),
  },
};

export default {
  base: './',
  resolve: {
    alias: [
      // Two dependencies of h5web make code from text, which the policy forbids.
      {find: /^ndarray(-ops)?$/, replacement: here('./ndarray.js')},
      {find: 'datarep-wasm', replacement: here('../datarep-wasm/index.js')},
    ],
  },
  plugins: [react(), early],
  worker: {format: 'es'},
  build: {outDir: here('../www'), emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0, modulePreload: {polyfill: false}},
};
