// picture.jsx - a dataset as `datarep plot` draws it: maps with coastlines, dates, and frames in time.
//
// What is a map, where ticks are and what they say is decided by the code of the command, in the core.
// SPDX-License-Identifier: MIT
import React, {useEffect, useRef, useState} from 'react';
import {call} from './client.js';

const LEFT = 64, RIGHT = 76, ABOVE = 40, BELOW = 50; // around the axes: plot counts on 140 x 90 pixels
const FRAME_MS = 150;                               // at least, between two frames

const place = (axis, v) => axis.log ? Math.log(v / axis.from) / Math.log(axis.to / axis.from) : (v - axis.from) / (axis.to - axis.from);

function box(canvas, p) {
  const w = canvas.clientWidth - LEFT - RIGHT, h = p.height - ABOVE - BELOW;
  if (!p.map) return {x: LEFT, y: ABOVE, w, h};
  const scale = Math.min(w / Math.abs(p.x.to - p.x.from), h / Math.abs(p.y.to - p.y.from));
  return {x: LEFT, y: ABOVE, w: scale * Math.abs(p.x.to - p.x.from), h: scale * Math.abs(p.y.to - p.y.from)};
}

function drawImage(c, p, b) {
  const {rows, columns, cells} = p.image, small = new OffscreenCanvas(columns, rows), s = small.getContext('2d');
  const pixels = s.createImageData(columns, rows), last = p.colors.length - 1;
  for (let i = 0; i < cells.length; i++) {
    if (Number.isNaN(cells[i])) continue; // transparent
    const color = p.colors[Math.round(Math.min(Math.max(place(p.value, cells[i]), 0), 1) * last)];
    pixels.data.set([color >> 16, color >> 8 & 255, color & 255, 255], 4 * i);
  }
  s.putImageData(pixels, 0, 0);
  c.imageSmoothingEnabled = false;
  c.drawImage(small, b.x, b.y, b.w, b.h);
  for (let y = 0; y < b.h; y++) { // the scale
    c.fillStyle = '#' + p.colors[Math.round((1 - y / b.h) * last)].toString(16).padStart(6, '0');
    c.fillRect(b.x + b.w + 14, b.y + y, 12, 1.5);
  }
  c.fillStyle = '#222';
  for (const t of p.value.ticks) c.fillText(t.text, b.x + b.w + 30, b.y + (1 - place(p.value, t.at)) * b.h + 4);
  c.fillText(p.value.label, b.x + b.w + 14, b.y - 8);
}

function drawLine(c, p, b) {
  const at = (x, y) => [b.x + place(p.x, x) * b.w, b.y + (1 - place(p.y, y)) * b.h], {n, x, low, high, points} = p.line;
  c.strokeStyle = c.fillStyle = '#1f5fa8';
  c.lineWidth = 1.5;
  c.beginPath();
  for (let i = 0, on = false; i < n; i++) {
    if (Number.isNaN(low[i]) || Number.isNaN(x[i])) { on = false; continue; }
    const [u, v] = at(x[i], low[i]);
    if (on) c.lineTo(u, v); else c.moveTo(u, v);
    if (high[i] !== low[i]) c.lineTo(...at(x[i], high[i]));
    else if (points) c.fillRect(u - 2, v - 2, 4, 4);
    on = true;
  }
  c.stroke();
}

function drawCoast(c, p, b, coast) {
  c.strokeStyle = '#000';
  c.lineWidth = 0.8;
  c.beginPath();
  for (let i = 0, on = false; i < coast.length; i += 2) {
    if (Number.isNaN(coast[i])) { on = false; continue; }
    const u = b.x + place(p.x, coast[i]) * b.w, v = b.y + (1 - place(p.y, coast[i + 1])) * b.h;
    if (on) c.lineTo(u, v); else c.moveTo(u, v);
    on = true;
  }
  c.stroke();
}

function draw(canvas, p, coast) {
  const b = box(canvas, p), ratio = devicePixelRatio || 1, c = canvas.getContext('2d');
  canvas.height = p.height * ratio;
  canvas.width = canvas.clientWidth * ratio;
  canvas.style.height = `${p.height}px`;
  c.scale(ratio, ratio);
  c.fillStyle = '#fff';
  c.fillRect(0, 0, canvas.width, canvas.height);
  c.font = '12px sans-serif';
  c.save();
  c.beginPath();
  c.rect(b.x, b.y, b.w, b.h);
  if (p.line) { c.clip(); drawLine(c, p, b); c.restore(); } else { c.restore(); drawImage(c, p, b); }
  if (coast?.length) { c.save(); c.beginPath(); c.rect(b.x, b.y, b.w, b.h); c.clip(); drawCoast(c, p, b, coast); c.restore(); }
  c.strokeStyle = '#444';
  c.lineWidth = 1;
  c.strokeRect(b.x, b.y, b.w, b.h);
  c.fillStyle = '#222';
  c.textAlign = 'center';
  for (const t of p.x.ticks) { const u = b.x + place(p.x, t.at) * b.w; c.fillRect(u, b.y + b.h, 1, 4); c.fillText(t.text, u, b.y + b.h + 17); }
  c.fillText(p.x.label, b.x + b.w / 2, b.y + b.h + 36);
  c.textAlign = 'right';
  for (const t of p.y.ticks) { const v = b.y + (1 - place(p.y, t.at)) * b.h; c.fillRect(b.x - 4, v, 4, 1); c.fillText(t.text, b.x - 7, v + 4); }
  c.textAlign = 'center';
  c.save();
  c.translate(14, b.y + b.h / 2);
  c.rotate(-Math.PI / 2);
  c.fillText(p.y.label, 0, 0);
  c.restore();
  c.font = 'bold 14px sans-serif';
  c.fillText(p.title, b.x + b.w / 2, 20);
}

const wider = (kept, v) => kept ? {low: Math.min(kept.low, v.from), high: Math.max(kept.high, v.to)} : {low: v.from, high: v.to};

/** path: of a dataset in the file. */
export function Picture({path}) {
  const canvas = useRef(null), kept = useRef(null);
  const [dims, setDims] = useState(null), [at, setAt] = useState([]), [playing, setPlaying] = useState(-1);
  const [said, setSaid] = useState('');

  useEffect(() => {
    kept.current = null;
    setPlaying(-1);
    setDims(null);
    call('get', {path}).then(o => {
      if (o.kind !== 'dataset') { setSaid('select a dataset in the tree'); return; }
      if (!o.dims?.length) { setSaid('there is no picture of one value, or of none'); return; }
      setAt(o.dims.slice(0, -2).map(() => 0));
      setDims(o.dims);
    }, e => setSaid(e.message));
  }, [path]);

  useEffect(() => {
    if (!dims || !canvas.current) return undefined;
    const stop = new AbortController(), began = performance.now();
    let timer;
    (async () => {
      const operand = path + (dims.length > 2 ? `[${at.join(',')},:,:]` : '');
      const size = {width: Math.max(320, canvas.current.clientWidth), height: Math.max(300, canvas.current.parentElement.clientHeight - 70)};
      let p = await call('plot', {operand, ...size}, stop);
      if (p.value) { // all frames have one scale, as wide as those that were seen
        const all = wider(kept.current, p.value);
        if (kept.current && (all.low !== p.value.from || all.high !== p.value.to)) p = await call('plot', {operand, ...size, ...all}, stop);
        kept.current = all;
      }
      const b = {west: Math.min(p.x.from, p.x.to), east: Math.max(p.x.from, p.x.to), south: Math.min(p.y.from, p.y.to), north: Math.max(p.y.from, p.y.to)};
      const coast = p.map ? await call('coast', {what: new URL('assets/coast.drep', document.baseURI).href, ...b}, stop) : null;
      if (stop.signal.aborted) return;
      draw(canvas.current, p, coast);
      setSaid(p.note);
      window.datarep.picture = {from: path, title: p.title, map: p.map, x: p.x, y: p.y, coast: coast?.length ?? 0};
      if (playing >= 0)
        timer = setTimeout(() => setAt(a => a.map((v, d) => d === playing ? (v + 1) % dims[d] : v)), Math.max(0, FRAME_MS - (performance.now() - began)));
    })().catch(e => { if (!stop.signal.aborted) { setPlaying(-1); setSaid(e.message); } });
    return () => { stop.abort(); clearTimeout(timer); };
  }, [dims, at, playing]);

  return <div className="picture">
    {dims?.slice(0, -2).map((n, d) => <div key={d} className="slider">
      <button onClick={() => setPlaying(playing === d ? -1 : d)}>{playing === d ? 'Stop' : 'Play'}</button>
      <input type="range" aria-label={`index of dimension ${d}`} min="0" max={n - 1} value={at[d]}
        onChange={e => setAt(at.map((v, k) => k === d ? +e.target.value : v))} />
      <span>dimension {d}: {at[d]} of {n}</span></div>)}
    {said && <p className="said" role="status">{said}</p>}
    <canvas ref={canvas} aria-label="picture" />
  </div>;
}
