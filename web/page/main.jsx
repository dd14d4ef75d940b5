// main.jsx - the page: a line of our own above h5web.
// SPDX-License-Identifier: MIT
import {App, DataProvider, enableBigIntSerialization} from '@h5web/app';
import '@h5web/app/styles.css';
import React, {useEffect, useMemo, useState} from 'react';
import {createRoot} from 'react-dom/client';
import {call} from './client.js';
import {Picture} from './picture.jsx';
import {DatarepApi} from './provider.js';
import './style.css';

enableBigIntSerialization();

// The files that the server or the exported folder names: [{name, url, path}]; path: shown first.
async function listed() {
  const response = await fetch('files.json', {cache: 'no-store'}).catch(() => null);
  return response?.ok ? response.json() : [];
}

const size = n => n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : n < 1e9 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(2)} GB`;

function Page() {
  const [files, setFiles] = useState([]), [shown, setShown] = useState(null), [error, setError] = useState('');
  const [cf, setCf] = useState(true), [busy, setBusy] = useState(null), [over, setOver] = useState(false);
  const [picture, setPicture] = useState(null);

  async function show(name, what, path = '/') {
    const stop = new AbortController();
    setError('');
    setShown(null);
    setPicture(null);
    setBusy({name, stop, bytes: 0});
    try {
      const header = await call('open', {what}, {signal: stop.signal, progress: d => setBusy({name, stop, bytes: d.bytes})});
      document.title = `${name} \u2013 Datarep`;
      setShown({name, header, path, key: Date.now()});
    } catch (e) {
      setError(stop.signal.aborted ? 'cancelled' : e.message);
    } finally {
      setBusy(null);
    }
  }
  const showListed = f => show(f.name, new URL(f.url, document.baseURI).href, f.path);

  useEffect(() => {
    listed().then(all => { setFiles(all); if (all.length) showListed(all[0]); }, e => setError(e.message));
    const stay = e => { e.preventDefault(); setOver(true); }, leave = () => setOver(false);
    const drop = e => { e.preventDefault(); setOver(false); const f = e.dataTransfer.files[0]; if (f) show(f.name, f); };
    addEventListener('dragover', stay);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => { removeEventListener('dragover', stay); removeEventListener('dragleave', leave); removeEventListener('drop', drop); };
  }, []);

  const api = useMemo(() => shown && new DatarepApi(shown.name, call, {cf}), [shown, cf]);
  useEffect(() => { window.datarep = {api, call}; }, [api]); // for tests and the console

  // What is selected in the tree: a path of the page's, then that in the file.
  const look = () => setPicture(picture === null ? api.real(document.querySelector('[data-path][aria-selected=true]')?.dataset.path ?? shown.path) : null);

  return <>
    <div className="bar">
      {files.length > 1 && <select aria-label="file" onChange={e => showListed(files[+e.target.value])}>
        {files.map((f, i) => <option key={i} value={i}>{f.name}</option>)}</select>}
      <b>{shown?.name ?? 'Datarep'}</b>
      <label className="button">Open a file<input type="file" id="file" onChange={e => e.target.files[0] && show(e.target.files[0].name, e.target.files[0])} /></label>
      {shown && <label title="scale_factor, add_offset and _FillValue of the CF conventions">
        <input type="checkbox" id="cf" checked={cf} onChange={e => setCf(e.target.checked)} /> unpack CF values</label>}
      {shown && <button id="picture" onClick={look}>{picture === null ? 'Picture' : 'Back'}</button>}
      {shown && <span className="end">{shown.header.datarep}, {size(shown.header.size)}, commit {shown.header.sequence}</span>}
    </div>
    <div className={over ? 'view over' : 'view'}>
      {busy && <p className="empty" role="status">Opening {busy.name}: {size(busy.bytes)} <button onClick={() => busy.stop.abort()}>Cancel</button></p>}
      {error && <p className="empty alert" role="alert">{error}</p>}
      {!shown && !busy && <p className="empty">Drop a Datarep file here, or open one. It stays on this machine.</p>}
      {api && <DataProvider key={`${shown.key} ${cf}`} api={api}><App initialPath={shown.path} sidebarOpen /></DataProvider>}
      {picture !== null && <Picture path={picture} />}
    </div>
  </>;
}

createRoot(document.getElementById('root')).render(<Page />);
