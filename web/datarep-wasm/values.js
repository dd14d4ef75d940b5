// values.js - elements in the core's memory become values of JavaScript.
// SPDX-License-Identifier: MIT

const ARRAYS = {
  i1: Int8Array, i2: Int16Array, i4: Int32Array, i8: BigInt64Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array,
  u8: BigUint64Array, f4: Float32Array, f8: Float64Array, b1: Uint8Array,
};
const utf8 = new TextDecoder();

/** The typed array that holds elements of a layout (web/core/binding.h), undefined if none does. */
export const arrayOf = t => ARRAYS[t.k === 'e' ? t.base.k + t.base.size : t.k + t.size];

// A text in `size` bytes, without what pads it: NULs, from the first NUL on, or blanks.
function unpadded(b, pad) {
  let end = b.length;
  if (pad === 1) end = b.indexOf(0) < 0 ? end : b.indexOf(0);
  else while (end && b[end - 1] === (pad === 2 ? 32 : 0)) end--;
  return utf8.decode(b.subarray(0, end));
}

// An integer of 16 bytes, in decimal digits: JSON and tables have no such number.
function wide(view, at, signed) {
  const low = view.getBigUint64(at, true);
  return String((signed ? view.getBigInt64(at + 8, true) : view.getBigUint64(at + 8, true)) * 2n ** 64n + low);
}

// The bits of a scalar that no predefined type is: in its byte order, some of them the value.
function bits(b, t) {
  const n = b.length, value = Array.from(b, (_, i) =>
    // From the least significant byte: little-endian, big-endian, or VAX, whose words of 16 bits are the
    // other way round.
    t.order === 1 ? b[i] : t.order === 0 || n < 2 ? b[n - 1 - i] : b[n - 2 - (i & ~1) + (i & 1)]);
  let whole = value.reduceRight((sum, x) => sum * 256n + BigInt(x), 0n) >> BigInt(t.offset);
  whole &= (1n << BigInt(t.precision)) - 1n;
  if (t.signed && whole >> BigInt(t.precision - 1)) whole -= 1n << BigInt(t.precision);
  return t.precision <= 64 ? whole : String(whole);
}

const character = code => code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? code : String.fromCodePoint(code);

/** Decodes elements in `instance`; path(id): that of an object; records: structs are arrays of their
 * members instead of objects. */
export class Decoder {
  constructor(instance, path, records) {
    this.heap = instance.heap();
    this.view = instance.view();
    this.path = path;
    this.records = records;
  }

  bytes(at, n) {
    if (n < 0 || at + n > this.heap.length) throw new RangeError('elements outside of memory');
    return this.heap.slice(at, at + n);
  }

  /** n elements from an address on: a typed array of numbers, else an array. */
  many(t, at, n) {
    const Typed = arrayOf(t);
    if (Typed) return new Typed(this.bytes(at, n * t.size).buffer);
    const all = new Array(n);
    for (let i = 0; i < n; i++) all[i] = this.one(t, at + i * t.size);
    return all;
  }

  one(t, at) {
    const {view} = this;
    switch (t.k) {
      case 'i': case 'u': case 'f': return this.many(t, at, 1)[0];
      case 'e': return this.one(t.base, at);
      case 'b': return view.getUint8(at) !== 0;
      case 'c': return t.size === 8 ? [view.getFloat32(at, true), view.getFloat32(at + 4, true)]
        : [view.getFloat64(at, true), view.getFloat64(at + 8, true)];
      case 'w': return wide(view, at, t.signed);
      case 'x': return bits(this.bytes(at, t.size), t);
      case 'a': return character(view.getUint8(at));
      case 'U': return character(t.size === 2 ? view.getUint16(at, true) : view.getUint32(at, true));
      case 's': return unpadded(this.bytes(at, t.size), t.pad);
      case 'S': return utf8.decode(this.bytes(view.getUint32(at + 8, true), view.getUint32(at, true)));
      case 'o': return this.bytes(at, t.size);
      case 'R': return this.reference(t, at);
      case 'A': return this.many(t.base, at, t.dims.reduce((a, b) => a * b, 1));
      case 'V': return this.many(t.base, view.getUint32(at + 8, true), view.getUint32(at, true));
      case 'T': return t.fields.map(f => this.one(f.t, at + f.o));
      case 'C': return this.record(t, at);
      default: return null;
    }
  }

  record(t, at) {
    if (this.records) return t.fields.map(f => this.one(f.t, at + f.o));
    const r = Object.create(null); // names may be any, "__proto__" too
    for (const f of t.fields) r[f.name] = this.one(f.t, at + f.o);
    return r;
  }

  reference(t, at) {
    const id = this.view.getBigUint64(at, true), region = this.view.getUint32(at + 8, true);
    const object = id ? this.path(String(id)) : null;
    if (!t.region || !id) return object;
    return {object, region: region ? utf8.decode(this.heap.slice(region, this.heap.indexOf(0, region))) : ''};
  }
}
