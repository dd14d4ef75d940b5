// main.jsx - h5web on a file of HDF5, as its own page has it.
// SPDX-License-Identifier: MIT
import {App} from '@h5web/app';
import {H5WasmBufferProvider} from '@h5web/h5wasm';
import '@h5web/app/styles.css';
import React, {useEffect, useState} from 'react';
import {createRoot} from 'react-dom/client';

// Filters that libhdf5 has not, as h5web's page for local files loads them.
const plugin = async name => (await fetch(`plugins/libH5Z${name}.so`).catch(() => null))?.arrayBuffer();

function Page() {
  const [buffer, setBuffer] = useState(null);
  useEffect(() => { fetch('file.h5').then(r => r.arrayBuffer()).then(setBuffer); }, []);
  return buffer && <H5WasmBufferProvider filename="file.h5" buffer={buffer} getPlugin={plugin}><App sidebarOpen /></H5WasmBufferProvider>;
}

createRoot(document.getElementById('root')).render(<Page />);
