// vite.config.js - how the page is packed: no inlined data, no code from text.
// SPDX-License-Identifier: MIT
import {fileURLToPath} from 'node:url';
import react from '@vitejs/plugin-react';

const here = name => fileURLToPath(new URL(name, import.meta.url));

export default {
  base: './',
  resolve: {
    alias: [
      // Two dependencies of h5web make code from text, which the policy forbids.
      {find: /^ndarray(-ops)?$/, replacement: here('./ndarray.js')},
      {find: 'datarep-wasm', replacement: here('../datarep-wasm/index.js')},
    ],
  },
  plugins: [react()],
  worker: {format: 'es'},
  build: {outDir: here('../www'), emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0, modulePreload: {polyfill: false}},
};
