// vite.config.js - SPDX-License-Identifier: MIT
import react from '@vitejs/plugin-react';

export default {base: './', plugins: [react()], worker: {format: 'es'}, build: {target: 'es2022', outDir: 'www', emptyOutDir: true}};
