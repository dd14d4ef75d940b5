// ndarray.js - what h5web needs of ndarray and ndarray-ops, without code made from text.
// SPDX-License-Identifier: MIT
class View {
  constructor(data, shape, stride, offset) {
    this.data = data; this.shape = shape; this.stride = stride; this.offset = offset;
  }
  get dimension() { return this.shape.length; }
  get size() { return this.shape.reduce((a, b) => a * b, 1); }
  get order() { return this.shape.map((_, i) => i).sort((a, b) => Math.abs(this.stride[a]) - Math.abs(this.stride[b])); }
  get dtype() { const n = this.data?.constructor?.name ?? 'generic'; return n === 'Array' ? 'array' : n.replace('Array', '').toLowerCase().replace('uint8clamped', 'uint8_clamped'); }
  // Indices beyond the rank count for nothing.
  index(...i) { let o = this.offset; for (let d = 0; d < this.stride.length; d++) o += i[d] * this.stride[d]; return o; }
  get(...i) { return this.data[this.index(...i)]; }
  set(...a) { const v = a.pop(); return (this.data[this.index(...a)] = v); }
  hi(...n) { return new View(this.data, this.shape.map((s, d) => n[d] == null || n[d] < 0 ? s : n[d]), this.stride, this.offset); }
  lo(...n) { return new View(this.data, this.shape.map((s, d) => s - (n[d] > 0 ? n[d] : 0)), this.stride, this.stride.reduce((o, s, d) => o + s * (n[d] > 0 ? n[d] : 0), this.offset)); }
  step(...n) {
    let o = this.offset;
    const shape = this.shape.map((s, d) => { const k = n[d] ?? 1; if (k < 0) o += this.stride[d] * (s - 1); return Math.ceil(s / Math.abs(k)); });
    return new View(this.data, shape, this.stride.map((s, d) => s * (n[d] ?? 1)), o);
  }
  transpose(...p) { return new View(this.data, p.map(d => this.shape[d]), p.map(d => this.stride[d]), this.offset); }
  pick(...i) {
    const keep = this.shape.map((_, d) => d).filter(d => i[d] == null || i[d] < 0);
    const o = this.shape.reduce((a, _, d) => keep.includes(d) ? a : a + i[d] * this.stride[d], this.offset);
    return new View(this.data, keep.map(d => this.shape[d]), keep.map(d => this.stride[d]), o);
  }
}
export default function ndarray(data, shape = [data.length], stride, offset = 0) {
  if (!stride) { stride = new Array(shape.length); let n = 1; for (let d = shape.length - 1; d >= 0; d--) { stride[d] = n; n *= shape[d]; } }
  return new View(data, [...shape], [...stride], offset);
}
export function assign(to, from) {
  const rank = to.shape.length;
  (function walk(d, a, b) {
    if (d === rank) { to.data[a] = from.data[b]; return; }
    const n = to.shape[d], x = to.stride[d], y = from.stride[d];
    if (d === rank - 1) { for (let i = 0; i < n; i++, a += x, b += y) to.data[a] = from.data[b]; return; }
    for (let i = 0; i < n; i++) walk(d + 1, a + i * x, b + i * y);
  })(0, to.offset, from.offset);
  return to;
}
