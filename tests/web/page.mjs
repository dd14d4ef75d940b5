// page.mjs - what the tests of the page have in common: servers, a browser, files, pixels.
// SPDX-License-Identifier: MIT
import {execFileSync, spawn} from 'node:child_process';
import {createReadStream, existsSync, mkdirSync, mkdtempSync, statSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {createServer as listening, connect} from 'node:net';
import {createRequire} from 'node:module';
import {extname, join, resolve} from 'node:path';

export const {SRCDIR = '.', BUILDDIR = 'build'} = process.env;
export const DATAREP = resolve(process.env.DATAREP ?? `${BUILDDIR}/release/datarep`);
const {chromium} = createRequire(resolve(BUILDDIR, 'web/page/package.json'))('playwright-core');

export const browser = () => chromium.launch({executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--enable-unsafe-swiftshader']});

const running = new Set();
export const endAll = () => { for (const end of running) end(); running.clear(); };

/** `datarep view` of files: address, code, end(). */
export async function view(folder, ...files) {
  const server = spawn(DATAREP, ['view', '--no-browser', ...files], {stdio: ['ignore', 'pipe', 'inherit'], env: {...process.env, XDG_RUNTIME_DIR: folder}});
  const end = () => server.kill('SIGINT');
  running.add(end);
  const text = await new Promise((ok, no) => {
    let t = '';
    server.stdout.on('data', d => { t += d; if (/code: \S+\n/.test(t)) ok(t); });
    server.on('exit', code => no(new Error(`datarep view ended with ${code}`)));
  });
  return {address: /http:\S+/.exec(text)[0], code: /code: (\S+)/.exec(text)[1], end};
}

const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json'};

/** A plain web server with ranges over a folder; log: [path, bytes, when it was sent] of each answer; delay in ms for .drep. */
export async function serve(folder, delay = 0) {
  const log = [];
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://h').pathname), file = join(folder, path === '/' ? 'index.html' : path);
    let size;
    try { size = statSync(file).size; } catch { response.writeHead(404); response.end(); return; }
    if (delay && file.endsWith('.drep')) await new Promise(ok => setTimeout(ok, delay));
    const m = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? ''), from = m ? +m[1] : 0, to = Math.min(m ? +m[2] : size, size - 1);
    response.writeHead(m ? 206 : 200, {'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Content-Length': to - from + 1,
      ETag: `"${size}"`, ...(m && {'Content-Range': `bytes ${from}-${to}/${size}`})});
    const answer = [path, to - from + 1, 0];
    log.push(answer);
    response.on('finish', () => { answer[2] = Date.now(); });
    createReadStream(file, {start: from, end: to}).pipe(response);
  }).listen(0, '127.0.0.1');
  await new Promise(ok => server.on('listening', ok));
  const end = () => { server.close(); server.closeAllConnections(); };
  running.add(end);
  return {address: `http://127.0.0.1:${server.address().port}/`, log, end};
}

const freePort = () => new Promise(ok => { const s = listening().listen(0, '127.0.0.1', () => { const {port} = s.address(); s.close(() => ok(port)); }); });
const answers = port => new Promise(ok => connect(port, '127.0.0.1').on('connect', function () { this.destroy(); ok(true); }).on('error', () => ok(false)));

/** nginx over a folder; without it the plain server above. */
export async function nginx(folder) {
  if (!existsSync('/usr/sbin/nginx')) return serve(folder);
  const own = mkdtempSync(join(folder, '..', 'nginx-')), port = await freePort();
  writeFileSync(join(own, 'nginx.conf'), `daemon off; pid ${own}/pid; worker_processes 1; ${process.getuid() ? '' : 'user root;'}
events {}
http { include /etc/nginx/mime.types; types { application/wasm wasm; text/javascript mjs; } access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(n => `${n}_temp_path ${own}/${n};`).join(' ')}
  server { listen 127.0.0.1:${port}; root ${resolve(folder)}; } }\n`);
  const server = spawn('/usr/sbin/nginx', ['-c', join(own, 'nginx.conf'), '-p', own, '-e', join(own, 'error.log')], {stdio: 'ignore'});
  const end = () => server.kill('SIGQUIT');
  running.add(end);
  for (let i = 0; i < 100 && !await answers(port); i++) await new Promise(ok => setTimeout(ok, 50));
  return {address: `http://127.0.0.1:${port}/`, end};
}

/** The three doors: each shows one file in a page, and returns what ends its server. */
export const DOORS = {
  async view(folder, page, file) {
    const server = await view(folder, file);
    await enter(page, server);
    return server;
  },
  async export(folder, page, file) {
    const site = join(mkdtempSync(join(folder, 'export-')), 'site');
    run('view', '--export', site, file);
    const server = await nginx(site);
    await page.goto(server.address);
    await opened(page);
    return server;
  },
  async drop(folder, page, file) {
    const server = await nginx(resolve(BUILDDIR, 'web/www'));
    await page.goto(server.address);
    await page.getByText('Drop a Datarep file here').waitFor();
    await drop(page, file);
    return server;
  },
};

/** Drops a file of the disk on the page. */
export async function drop(page, file) {
  await page.evaluate(() => { document.getElementById('held')?.remove(); const i = document.createElement('input'); i.type = 'file'; i.id = 'held'; document.body.append(i); window.datarep = {}; });
  await page.setInputFiles('#held', file);
  await page.evaluate(() => {
    const held = document.getElementById('held'), dataTransfer = new DataTransfer();
    dataTransfer.items.add(held.files[0]);
    held.remove();
    window.dropped = Date.now();
    document.body.dispatchEvent(new DragEvent('drop', {dataTransfer, bubbles: true, cancelable: true}));
  });
  await page.waitForFunction(() => window.datarep?.api || document.querySelector('[role=alert]'));
}

export const VIEWPORT = {width: 1200, height: 750};

/** A new page, of a context if one is given: `wrong` collects what no page may do: errors, dialogs, violations of the policy. */
export async function newPage(b, context) {
  const page = await (context ? context.newPage() : b.newPage({viewport: VIEWPORT})), wrong = [];
  page.setDefaultTimeout(60000);
  page.on('pageerror', e => wrong.push(`error: ${e.message}`));
  page.on('dialog', d => { wrong.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on('console', m => { if (m.type() === 'error' && /Content.Security|Refused/.test(m.text())) wrong.push(m.text()); });
  await page.exposeFunction('violated', text => wrong.push(`policy: ${text}`));
  await page.addInitScript(() => addEventListener('securitypolicyviolation', e => window.violated(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}`)));
  return {page, wrong};
}

export const opened = page => page.waitForFunction(() => window.datarep?.api, null, {timeout: 20000});

/** Goes to what view() gave, with its code. */
export async function enter(page, {address, code}) {
  await page.goto(address);
  await page.fill('input[name=code]', code);
  await page.click('button');
  await opened(page);
}

export async function select(page, ...names) {
  for (const name of names) await page.getByRole('treeitem', {name, exact: true}).first().click();
}

/** The pixel of the page at fractions of an element's box, or all of them as {width, height, at(x, y)}. */
export async function pixels(page, selector) {
  const box = await page.locator(selector).first().boundingBox(), png = await page.screenshot({clip: box});
  const {width, height, text} = await page.evaluate(async base64 => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), c => c.charCodeAt(0))], {type: 'image/png'}));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height), context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const bytes = context.getImageData(0, 0, bitmap.width, bitmap.height).data, parts = [];
    for (let i = 0; i < bytes.length; i += 32768) parts.push(String.fromCharCode(...bytes.subarray(i, i + 32768)));
    return {width: bitmap.width, height: bitmap.height, text: btoa(parts.join(''))};
  }, png.toString('base64')), data = Buffer.from(text, 'base64');
  return {width, height, at: (x, y) => { const i = 4 * (Math.floor(y) * width + Math.floor(x)); return [...data.subarray(i, i + 3)]; }};
}

// A file of NumPy with doubles.
export function npy(values, shape) {
  const head = `{'descr': '<f8', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`;
  const text = head + ' '.repeat(63 - (10 + head.length) % 64) + '\n';
  return Buffer.concat([Buffer.from([0x93]), Buffer.from('NUMPY\x01\x00', 'latin1'), Buffer.from(new Uint16Array([text.length]).buffer),
    Buffer.from(text), Buffer.from(Float64Array.from(values).buffer)]);
}

export const run = (...args) => execFileSync(DATAREP, args, {stdio: ['ignore', 'pipe', 'inherit']});

export function make(folder, name, schema, values = {}) {
  const file = join(folder, `${name}.drep`);
  writeFileSync(join(folder, 's.yaml'), schema);
  run('create', '-f', '-s', join(folder, 's.yaml'), file);
  for (const [path, [v, shape]] of Object.entries(values)) {
    writeFileSync(join(folder, 'v.npy'), npy(v, shape));
    run('import', '-u', '-i', path, join(folder, 'v.npy'), file);
  }
  return file;
}

/** Files that the tests show; the last names are those of the functions. */
export function files(folder) {
  mkdirSync(folder, {recursive: true});
  const lat = Array.from({length: 91}, (_, i) => 2 * i - 90), lon = Array.from({length: 180}, (_, i) => 2 * i);
  const square = n => [Float64Array.from({length: n * n}, (_, i) => Math.floor(i / n) + (i % n)), [n, n]];
  return {
    sea: make(folder, 'sea', `datarep: external32
dims: {lat: 91, lon: 180}
root:
  lat: {dataset: DOUBLE, dims: [lat], attrs: {units: degrees_north}}
  lon: {dataset: DOUBLE, dims: [lon], attrs: {units: degrees_east}}
  sst: {dataset: FLOAT, dims: [lat, lon], chunk: [30, 60], filters: [shuffle, zstd: 3], attrs: {units: degC}}
  packed: {dataset: SHORT, dims: [lat], data: [0, 10, -999${', 5'.repeat(88)}], attrs: {scale_factor: {type: DOUBLE, value: 0.5}, add_offset: {type: DOUBLE, value: 100}, _FillValue: {type: SHORT, value: -999}}}
`, {'/lat': [lat, [91]], '/lon': [lon, [180]], '/sst': [lat.flatMap(a => lon.map(o => 30 * Math.cos(a * Math.PI / 180) + 3 * Math.sin(3 * o * Math.PI / 180))), [91, 180]]}),
    frames: make(folder, 'frames', `datarep: external32
dims: {time: 6, lat: 19, lon: 36}
root:
  time: {dataset: INT, dims: [time], data: [0, 31, 59, 90, 120, 151], attrs: {units: "days since 2001-01-01"}}
  lat: {dataset: DOUBLE, dims: [lat], attrs: {units: degrees_north}}
  lon: {dataset: DOUBLE, dims: [lon], attrs: {units: degrees_east}}
  t2m: {dataset: FLOAT, dims: [time, lat, lon], chunk: [1, 19, 36], filters: [zstd: 3], attrs: {units: K, long_name: temperature}}
  series: {dataset: FLOAT, dims: [time], data: [1, 2, 3, 2, 1, 5], attrs: {units: K}}
`, {'/lat': [Array.from({length: 19}, (_, i) => 10 * i - 90), [19]], '/lon': [Array.from({length: 36}, (_, i) => 10 * i), [36]],
      '/t2m': [Array.from({length: 6 * 19 * 36}, (_, i) => Math.floor(i / 684) * 10 + (i % 684) / 684), [6, 19, 36]]}),
    many: make(folder, 'many', `root:\n  g:\n${Array.from({length: 10000}, (_, i) => `    d${i}: {dataset: INT, data: ${i}}`).join('\n')}\n`),
    large: make(folder, 'large', `dims: {a: 100000, b: 100000, c: 1048576}
root:
  plane: {dataset: DOUBLE, dims: [a, b], chunk: [1000, 1000], filters: [zstd: 3], fill: 7}
  cube: {dataset: SHORT, dims: [c, c], chunk: [1024, 1024], filters: [zstd: 3], fill: 3}
`),
    names: make(folder, 'names', `root:
  "<img src=x onerror=alert(1)>": {dataset: INT, data: 1, attrs: {"<script>alert(2)</script>": "<b onmouseover=alert(3)>"}}
  "a\\u202eb": {dataset: INT, data: 2}
  "__proto__": {dataset: INT, data: 3, attrs: {__proto__: 1, constructor: 2}}
  "javascript:alert(4)": {attrs: {title: "</title><script>alert(5)</script>"}}
`),
    square: n => make(folder, `square${n}`, `dims: {y: ${n}, x: ${n}}\nroot:\n  z: {dataset: FLOAT, dims: [y, x], chunk: [256, 256], filters: [shuffle, zstd: 3]}\n  small: {dataset: INT, shape: [2, 2], data: [[1, 2], [3, 4]]}\n`, {'/z': square(n)}),
  };
}
