// provider.js - what h5web asks of a file: objects, attributes, values.
//
// Beside the file's own objects there are some of the page's: ranges of a group with many members,
// reduced copies of datasets that are too large to be shown whole, and a group in NeXus' form for each
// dataset with coordinates, so that h5web draws it over its axes.  `made` has them by their paths.
// SPDX-License-Identifier: MIT
import {AbortError, DataProviderApi, DTypeClass, EntityKind, parseShape} from '@h5web/app';

const KINDS = {group: EntityKind.Group, dataset: EntityKind.Dataset, type: EntityKind.Datatype};
const LINKS = {hard: 'Hard', soft: 'Soft', external: 'External'};
const PADS = ['null-padded', 'null-terminated', 'space-padded'];
const ONE = /^(_FillValue|missing_value|valid_min|valid_max|scale_factor|add_offset)$/;
const RANGE = 500;           // members of a group in the tree at once
export const LARGE = 32 * 2 ** 20; // bytes of a slice that is shown
const REDUCED = 4 * 2 ** 20; // and of a reduced one
const ATTRIBUTE = 256 * 2 ** 10; // bytes of an attribute: all of an object are shown at once

const number = t => t.k === 'f' ? {class: DTypeClass.Float, size: t.size * 8, endianness: undefined}
  : {class: DTypeClass.Integer, signed: t.k === 'i', size: t.size * 8, endianness: undefined};
const STRING = {class: DTypeClass.String, charSet: 'UTF-8', strPad: undefined};

/** The type that h5web knows for a layout of the core. */
export function dtype(t) {
  switch (t.k) {
    case 'i': case 'u': case 'f': return number(t);
    case 'x': return t.precision <= 64 ? {class: DTypeClass.Integer, signed: Boolean(t.signed), size: 64, endianness: undefined} : STRING;
    case 'b': return {class: DTypeClass.Bool, base: number({k: 'u', size: 1})};
    case 'e': return t.base.k === 'w' ? STRING : {class: DTypeClass.Enum, base: number(t.base), mapping: t.names};
    case 'c': return {class: DTypeClass.Complex, realType: number({k: 'f', size: t.size / 2}), imagType: number({k: 'f', size: t.size / 2})};
    case 's': return {...STRING, strPad: PADS[t.pad], length: t.size};
    case 'S': case 'w': case 'a': case 'U': return STRING; // integers of 16 bytes are decimal digits
    case 'o': return {class: DTypeClass.Opaque, tag: t.tag ?? ''};
    case 'R': return {class: DTypeClass.Reference};
    case 'A': return {class: DTypeClass.Array, base: dtype(t.base), dims: t.dims};
    case 'V': return {class: DTypeClass.VLen, base: dtype(t.base)};
    case 'C': case 'T': return {class: DTypeClass.Compound, fields: new Map(t.fields.map((f, i) => [f.name || `[${i}]`, dtype(f.t)]))};
    default: return {class: DTypeClass.Unknown};
  }
}

const join = (path, name) => (path === '/' ? '' : path) + '/' + name;
const parent = path => path.slice(0, path.lastIndexOf('/')) || '/';
const base = path => path.slice(path.lastIndexOf('/') + 1);
const made = (name, value) => ({name, shape: parseShape(Array.isArray(value) ? [value.length] : []), type: STRING});
const isNumber = t => ['i', 'u', 'f'].includes(t?.k);

export class DatarepApi extends DataProviderApi {
  /** options.cf: packed values are shown as what they mean. */
  constructor(name, call, options = {}) {
    super(name);
    this.call = call;
    this.options = options;
    this.made = new Map(); // path -> {range} or {path, steps} or {group}
    this.extra = new Map(); // path of a group -> attributes that the page adds
  }

  /** The path in the file of one in the tree. */
  real(path) {
    for (let at = path, rest = ''; at.length > 1; rest = join('', base(at)) + rest, at = parent(at)) {
      const m = this.made.get(at);
      if (m?.member) return m.member;
      if (m?.range) return this.real(join(m.range.path, rest.slice(1)));
    }
    return path;
  }

  async getEntity(path) {
    const m = this.made.get(path);
    if (m?.range) return this.range(path, m.range);
    if (m?.entity) return m.entity;
    const real = this.real(path), o = await this.call('get', {path: real});
    if (o.kind === 'group') return this.group(path, real, o);
    return this.entity(path, o);
  }

  attributes(o) {
    return o.attrs.filter(a => a.t).map(a => ({
      name: a.name, type: dtype(a.t), elements: (a.dims ?? []).reduce((n, d) => n * d, 1), size: a.t.size, shape: parseShape(ONE.test(a.name) && a.dims?.length === 1 && a.dims[0] === 1 ? [] : a.dims),
    }));
  }

  entity(path, o) {
    const common = {path, name: base(path), kind: KINDS[o.kind] ?? EntityKind.Unresolved, attributes: this.attributes(o)};
    if (o.kind === 'type') return {...common, type: o.t ? dtype(o.t) : {class: DTypeClass.Unknown}};
    if (o.kind !== 'dataset') return common;
    if (o.error) return {...common, kind: EntityKind.Unresolved};
    const cf = this.packed(o);
    return {
      ...common, shape: parseShape(o.dims), type: dtype(cf ? {k: 'f', size: 8} : o.t), cf,
      rawType: {type: o.t.name ?? o.t.k, datarep: o.datarep, dimensions: o.dimensions},
      ...(o.chunk && {chunks: o.chunk}), filters: o.filters, source: o,
    };
  }

  // CF's packed values have a factor or an offset.
  packed(o) {
    return Boolean(this.options.cf && isNumber(o.t) && o.attrs.some(a => a.name === 'scale_factor' || a.name === 'add_offset'));
  }

  async group(path, real, o) {
    const group = this.entity(path, o);
    if (o.members > RANGE) {
      group.children = this.ranges(path, real, o.members);
      return group;
    }
    const {members} = await this.call('list', {path: real, skip: 0, limit: RANGE});
    group.children = this.children(path, members);
    await this.withAxes(group);
    return group;
  }

  children(path, members) {
    const names = new Set(members.map(m => m.name));
    return members.flatMap(m => {
      const child = this.child(join(path, m.name), m), reduced = this.reduced(child, names);
      return reduced ? [child, reduced] : [child];
    });
  }

  child(path, {object, link, target, file}) {
    const how = {class: LINKS[link] ?? 'Hard', ...(target && {path: target}), ...(file && {file})};
    if (!object || object.error) return {path, name: base(path), kind: EntityKind.Unresolved, attributes: [], link: how};
    return {...this.entity(path, object), link: how};
  }

  ranges(path, real, n) {
    return Array.from({length: Math.ceil(n / RANGE)}, (_, i) => {
      const name = `${i * RANGE} \u2026 ${Math.min(n, (i + 1) * RANGE) - 1}`, at = join(path, name);
      this.made.set(at, {range: {path: real, skip: i * RANGE}});
      return {path: at, name, kind: EntityKind.Group, attributes: []};
    });
  }

  async range(path, {path: real, skip}) {
    const {members} = await this.call('list', {path: real, skip, limit: RANGE});
    return {path, name: base(path), kind: EntityKind.Group, attributes: [], children: this.children(path, members)};
  }

  // A dataset whose last two dimensions are too large for a picture has every n-th element beside it.
  reduced(entity, names) {
    const dims = entity.shape?.dims, size = entity.source?.t.size;
    if (entity.kind !== EntityKind.Dataset || !dims?.length || !isNumber(entity.source.t)) return null;
    const plane = dims.slice(-2);
    if (plane.reduce((a, b) => a * b, size) <= LARGE) return null;
    let step = 2;
    while (plane.reduce((a, b) => a * Math.ceil(b / step), size) > REDUCED) step *= 2;
    const name = `${entity.name} (every ${step === 2 ? '2nd' : `${step}th`})`, path = join(parent(entity.path), name);
    if (names.has(name)) return null;
    const steps = dims.map((_, d) => d < dims.length - 2 ? 1 : step);
    const reduced = {...entity, path, name, shape: parseShape(dims.map((n, d) => Math.ceil(n / steps[d]))), chunks: undefined, steps};
    this.made.set(path, {member: this.real(entity.path), entity: reduced});
    return reduced;
  }

  // Coordinates of a dataset's dimensions: paths in the file, '.' where there are none.
  async coordinates(o, path) {
    const real = this.real(path);
    return Promise.all((o.dimensions ?? []).map(async (d, i) => {
      if (!d?.coordinate || d.coordinate === real) return null;
      const c = await this.call('get', {path: d.coordinate}).catch(() => null);
      return c && isNumber(c.t) && c.dims?.length === 1 && c.dims[0] === o.dims[i] ? {path: d.coordinate, object: c} : null;
    }));
  }

  // Each dataset over its coordinates, as NeXus says it: the group itself shows the one with most
  // dimensions, further ones get groups of the page's own.
  async withAxes(group) {
    if (this.options.axes === false || group.attributes.some(a => a.name === 'NX_class')) return;
    const names = new Set(group.children.map(c => c.name)), found = [];
    for (const c of group.children) {
      if (c.kind !== EntityKind.Dataset || c.steps || !isNumber(c.source.t) || !c.source.dimensions?.some(d => d?.coordinate)) continue;
      const at = await this.coordinates(c.source, c.path);
      if (at.some(Boolean)) found.push([c, at]);
    }
    found.sort((a, b) => b[0].shape.dims.length - a[0].shape.dims.length);
    const local = found.findIndex(([, at]) => at.every(a => !a || parent(a.path) === this.real(group.path)));
    found.forEach(([c, at], i) => {
      if (i === local) this.nexus(group, c.name, at.map(a => a ? base(a.path) : '.'));
      else this.overAxes(group, c, at, names);
    });
  }

  nexus(group, signal, axes) {
    this.extra.set(group.path, {NX_class: 'NXdata', signal, axes});
    group.attributes = [...group.attributes, ...Object.entries(this.extra.get(group.path)).map(([n, v]) => made(n, v))];
  }

  overAxes(group, dataset, at, names) {
    const name = `${dataset.name} (axes)`, path = join(group.path, name);
    if (names.has(name)) return;
    const own = {path, name, kind: EntityKind.Group, attributes: []};
    const member = (from, entity, called) => {
      const to = join(path, called);
      this.made.set(to, {member: from, entity: {...entity, path: to, name: called}});
      return {...entity, path: to, name: called};
    };
    const axes = at.map((a, i) => a ? `axis ${i}: ${base(a.path)}` : '.');
    own.children = [member(this.real(dataset.path), dataset, dataset.name),
      ...at.flatMap((a, i) => a ? [member(a.path, this.entity(a.path, a.object), axes[i])] : [])];
    this.nexus(own, dataset.name, axes);
    this.made.set(path, {entity: own});
    const {children, ...leaf} = own;
    group.children.push(leaf);
  }

  async getValue({dataset, selection}, signal, onProgress) {
    if (dataset.shape.dims?.includes(0)) throw new Error(`${dataset.name} has no elements: its shape is ${dataset.shape.dims.join(' \u00d7 ')}`);
    const scalar = dataset.shape.dims === undefined || dataset.shape.class === 'Scalar';
    const steps = dataset.steps, path = this.real(dataset.path);
    const parts = (selection ?? dataset.shape.dims?.map(() => ':').join(',') ?? '').split(',');
    const select = scalar ? '' : `[${parts.map((p, d) => steps?.[d] > 1 ? reducedPart(p, steps[d]) : p).join(',')}]`;
    const {data} = await this.call('read', {path, select, limit: LARGE * 2},
      {signal, progress: onProgress && (done => onProgress(1 - 1 / (1 + done.rounds)))})
      .catch(e => { throw e.name === 'AbortError' ? new AbortError() : e; });
    if (dataset.cf) return this.unpack(dataset, data);
    return data;
  }

  async unpack(dataset, data) {
    const a = await this.getAttrValues(dataset), factor = Number(a.scale_factor ?? 1), offset = Number(a.add_offset ?? 0);
    const absent = [a._FillValue, a.missing_value].filter(v => v !== undefined);
    const one = x => absent.includes(x) ? NaN : Number(x) * factor + offset;
    return ArrayBuffer.isView(data) ? Float64Array.from(data, one) : one(data);
  }

  async getAttrValues(entity) {
    const extra = this.extra.get(entity.path) ?? {}, values = {};
    await Promise.all(entity.attributes.map(async a => {
      if (Object.hasOwn(extra, a.name)) { values[a.name] = extra[a.name]; return; }
      if (a.elements * a.size > ATTRIBUTE) {
        values[a.name] = `${a.elements} elements of ${a.size} bytes, too large to be shown here`;
        return;
      }
      const {data, shape} = await this.call('attribute', {path: this.real(entity.path), name: a.name});
      values[a.name] = a.shape.class === 'Scalar' && shape?.length === 1 ? data[0] : data;
    }));
    return values;
  }

  getExportURL(format, dataset, selection, builtIn) {
    return builtIn && (async () => new Blob([builtIn()]));
  }

  getSearchablePaths(path) {
    return this.call('paths', {path: this.real(path)});
  }
}

// An index or a range of a reduced dataset, as one of the whole.
function reducedPart(part, step) {
  const [from, to] = part.split(':');
  if (to === undefined) return String(Number(part) * step);
  return `${from ? Number(from) * step : ''}:${to ? Number(to) * step : ''}:${step}`;
}
