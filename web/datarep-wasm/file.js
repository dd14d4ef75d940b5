// file.js - an open file: groups, datasets, attributes, elements.
// SPDX-License-Identifier: MIT
import {Blocks} from './blocks.js';
import {DatarepError, Instance} from './instance.js';
import {pieces} from './pieces.js';
import {Decoder, arrayOf} from './values.js';

const ROUNDS_MOST = 256, LIMIT = 256 * 2 ** 20, BUDGET = 32 * 2 ** 20;
const PIECE = 8 * 2 ** 20;     // that the core reads at once
const TOO_MUCH = 30;            // DREP_ERR_LIMIT
const HEAP_MOST = 24 * 2 ** 20; // an instance whose memory has grown beyond is made anew: it cannot shrink
const ROUND_TRIP = 1000000;     // what one costs, in bytes that could be moved meanwhile
const KINDS = {1: 'group', 2: 'dataset', 3: 'type', 4: 'dimension'};
const LINKS = {1: 'hard', 2: 'soft', 3: 'external'};

// What the core says of an object, in words.
function named(o) {
  const {kind, ...rest} = o;
  return {kind: KINDS[kind] ?? 'unknown', ...rest};
}

export class DatarepFile {
  #module; #source; #blocks; #instance = null; #opened = null; #work = null; #paths = new Map(); #closed = false;

  static async open(module, source, {cacheBytes = BUDGET, ...options} = {}) {
    const file = new DatarepFile();
    file.#module = module;
    file.#source = source;
    file.#blocks = new Blocks(source, cacheBytes);
    await file.#run(options, () => file.#opened);
    return file;
  }

  /** Name, representation, writer, machine, commit of the file. */
  get header() { return {name: this.#source.name, size: this.#source.size, ...this.#opened}; }
  /** Requests, bytes and rounds so far, and the memory that the core has now. */
  get stats() { return {...this.#blocks.stats, heap: this.#instance?.heap().length ?? 0}; }

  close() {
    this.#closed = true;
    this.#instance = null;
    this.#source.close?.();
  }

  async #ready(work) {
    if (this.#closed) throw new DatarepError('the file is closed');
    if (!this.#instance) {
      const made = await Instance.make(this.#module, (at, size, to) =>
        this.#blocks.copy(this.#work, at, size, made.heap(), to));
      made.open = false;
      this.#instance ??= made;
    }
    this.#work = work;
    if (!this.#instance.open) {
      const trip = this.#source.take ? 0 : ROUND_TRIP;
      this.#opened = this.#instance.call('open', this.#source.size, trip, this.#source.name);
      this.#instance.open = true;
    }
    return this.#instance;
  }

  // Runs fn(instance), which makes calls and takes no time off, until no bytes are missing.
  async #run({signal, progress} = {}, fn) {
    const work = this.#blocks.begin();
    try {
      for (let round = 0; round < ROUNDS_MOST; round++) {
        signal?.throwIfAborted();
        try {
          const result = fn(await this.#ready(work));
          if (!work.missing.size) return result;
        } catch (e) {
          if (e instanceof WebAssembly.RuntimeError || e instanceof RangeError) {
            this.#instance = null; // whose memory nobody knows any more
            throw new DatarepError('the core failed on this file: ' + e.message);
          }
          if (!work.missing.size) throw e;
        }
        await this.#blocks.fetch(work, {signal, progress});
      }
      throw new DatarepError('the file needs too many rounds of requests');
    } finally {
      this.#blocks.end(work);
      if (this.#instance?.heap().length > HEAP_MOST) this.#instance = null;
    }
  }

  /** The object at a path. */
  async get(path = '/', options) {
    return named(await this.#run(options, i => i.call('object', path)));
  }

  /** Members of a group from the one after `skip` on, at most `limit`; objects: false leaves out
   * what get() says of each. */
  async list(path = '/', {skip = 0, limit = 1000, objects = true, ...options} = {}) {
    const {links, more} = await this.#run(options, i => i.call('links', path, skip, limit, objects ? 1 : 0));
    return {
      more,
      members: links.map(({link, kind, object, ...l}) => ({
        ...l, link: LINKS[link] ?? 'unknown', kind: KINDS[kind] ?? (link === 1 ? 'unknown' : undefined),
        ...(object && {object: named(object)}),
      })),
    };
  }

  /** The paths of the objects at and beneath `path`. */
  async paths(path = '/', {limit = 100000, ...options} = {}) {
    return this.#run(options, i => i.call('paths', path, limit));
  }

  #pathOf(instance, id) {
    if (!this.#paths.has(id)) {
      try {
        this.#paths.set(id, instance.call('path', id));
      } catch (e) {
        if (this.#work.missing.size) throw e;
        this.#paths.set(id, null); // a reference to what is no more
      }
    }
    return this.#paths.get(id);
  }

  // take(instance, type, n, address): gets elements while they are in the core's memory.
  #taken(options, call, take) {
    return this.#run(options, instance => {
      try {
        const {n, at, ...said} = call(instance);
        return take(instance, said, n, at);
      } finally {
        instance.exports.web_free();
      }
    });
  }

  #values(options, records, scalar, call) {
    return this.#taken(options, call, (instance, {t, overflow, inexact, shape}, n, at) => {
      const decoder = new Decoder(instance, id => this.#pathOf(instance, id), records);
      const one = scalar || shape?.length === 0;
      const data = shape === null ? null : one && n === 1 ? decoder.one(t, at) : decoder.many(t, at, n);
      return {shape, data, type: t, overflow, inexact};
    });
  }

  /** Elements of a dataset. */
  async read(path, {select = '', limit = LIMIT, records = false, pieceBytes = PIECE, ...options} = {}) {
    const call = (s, most) => i => i.call('read', path, s, most);
    try {
      return await this.#values(options, records, false, call(select, Math.min(limit, pieceBytes)));
    } catch (e) {
      if (e.code !== TOO_MUCH || limit <= pieceBytes) throw e;
    }
    const object = await this.get(path, options), cut = pieces(object, select, limit, pieceBytes);
    if (!cut) return this.#values(options, records, false, call(select, limit));
    const Typed = arrayOf(object.t), data = new Typed(cut.n), whole = {shape: cut.shape, data, overflow: 0, inexact: 0};
    let to = 0;
    for (const s of cut.selects)
      await this.#taken(options, call(s, limit), (instance, {t, overflow, inexact}, n, at) => {
        // A call that lacked bytes is made again: then the same elements come again.
        if (this.#work.missing.size) return;
        whole.type = t;
        data.set(new Typed(instance.exports.memory.buffer, at, n), to);
        to += n;
        whole.overflow += overflow;
        whole.inexact += inexact;
      });
    return whole;
  }

  /** The value of an attribute. */
  async readAttribute(path, name, {limit = LIMIT, records = false, ...options} = {}) {
    return this.#values(options, records, false, i => i.call('read_attr', path, name, limit));
  }

  /** All attributes of an object: their values by name, null for what cannot be read. */
  async attributes(path = '/', options = {}) {
    const {attrs} = await this.get(path, options), values = Object.create(null);
    for (const a of attrs)
      values[a.name] = a.error ? null : (await this.readAttribute(path, a.name, options)).data;
    return values;
  }

  #doubles(instance, at, n) {
    return new Float64Array(instance.heap().slice(at, at + 8 * n).buffer);
  }

  /** The picture that `datarep plot` draws of "/path" or "/path[0,:,:]": of a line or an image, with axes. */
  async plot(operand, {width = 960, height = 600, low = NaN, high = NaN, ...options} = {}) {
    return this.#run(options, instance => {
      try {
        const p = instance.call('plot', operand, width, height, low, high);
        const take = (at, n) => this.#doubles(instance, at, n);
        if (p.line) for (const name of ['x', 'low', 'high']) p.line[name] = take(p.line[name], p.line.n);
        if (p.image) p.image.cells = take(p.image.cells, p.image.rows * p.image.columns);
        return p;
      } finally {
        instance.exports.web_plot_free();
      }
    });
  }

  /** Coastlines of a file in the form of GSHHG, as pairs of degrees; NaN ends a line. */
  async coast({west, east, south, north}, options) {
    return this.#run(options, instance => {
      try {
        const {n, points} = instance.call('coast', west, east, south, north);
        return this.#doubles(instance, points, 2 * n);
      } finally {
        instance.exports.web_plot_free();
      }
    });
  }
}
