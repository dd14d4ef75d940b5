// main.jsx - the page: a line of our own above h5web.
// SPDX-License-Identifier: MIT
import {App, DataProvider, enableBigIntSerialization} from '@h5web/app';
import React, {useEffect, useMemo, useState} from 'react';
import {createRoot} from 'react-dom/client';
import {call} from './client.js';
import {Picture} from './picture.jsx';
import {DatarepApi} from './provider.js';
import {addressOf, begin, first} from './start.js';

enableBigIntSerialization();

const size = n => n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : n < 1e9 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(2)} GB`;

function Page() {
  const [files, setFiles] = useState([]), [shown, setShown] = useState(null), [error, setError] = useState('');
  const [cf, setCf] = useState(true), [busy, setBusy] = useState(null), [over, setOver] = useState(false);
  const [picture, setPicture] = useState(null);

  async function show(name, begun, path = '/') {
    const {stop, done} = begun;
    const busy = d => setBusy({name, stop, bytes: d.bytes});
    setError('');
    setShown(null);
    setPicture(null);
    document.title = 'Datarep';
    busy({bytes: 0});
    begun.told = busy;
    try {
      const header = await done;
      document.title = `${name} \u2013 Datarep`;
      setShown({name, header, path, key: Date.now()});
    } catch (e) {
      setError(stop.signal.aborted ? 'cancelled' : e.message);
    } finally {
      setBusy(null);
    }
  }
  const showFile = f => f && show(f.name, begin(f));
  const showListed = (f, begun = begin(addressOf(f), f.name)) => show(f.name, begun, f.path);

  useEffect(() => {
    first.then(({files, begun}) => { setFiles(files); if (begun) showListed(files[0], begun); }, e => setError(e.message));
    const stay = e => { e.preventDefault(); setOver(true); }, leave = () => setOver(false);
    const drop = e => { e.preventDefault(); setOver(false); showFile(e.dataTransfer.files[0]); };
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
      <label className="button">Open a file<input type="file" id="file" onChange={e => showFile(e.target.files[0])} /></label>
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
