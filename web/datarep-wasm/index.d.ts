// SPDX-License-Identifier: MIT

/** A number typed array, or an array of what one() gives for this layout. */
export type Data =
  | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array | Uint32Array | BigUint64Array
  | Float32Array | Float64Array | Value[];

/** One element.  Integers of 8 bytes are bigint, of 16 decimal digits; complex numbers [re, im]; a
 * character that is none, its number; an enum the number, whose name is in `names`; a struct an
 * object, or with `records` an array of its members; a reference the path of the object, or null. */
export type Value =
  | number | bigint | string | boolean | null | [number, number] | Uint8Array | Data
  | { object: string | null; region: string } | { [member: string]: Value };

/** How an element lies in the core's memory: `k` is i u integer, f real, c complex, b bool, w integer of
 * 16 bytes, a U character, e enum, s S text, o opaque, R reference, A array, V sequence, C struct,
 * T struct without names, x bits. */
export interface Layout {
  k: 'i' | 'u' | 'f' | 'c' | 'b' | 'w' | 'a' | 'U' | 'e' | 's' | 'S' | 'o' | 'R' | 'A' | 'V' | 'C' | 'T' | 'x' | '?';
  size: number;
  /** The file's type: "LONG", "FLOAT16", ... */
  name?: string;
  names?: Record<string, string>;
  base?: Layout;
  dims?: number[] | null;
  fields?: { name: string; o: number; t: Layout }[];
  pad?: number;
  tag?: string;
}

export interface Attribute {
  name: string;
  /** null: no elements. */
  dims?: number[] | null;
  t?: Layout;
  /** It cannot be read. */
  error?: string;
}

export type Kind = 'group' | 'dataset' | 'type' | 'dimension' | 'unknown';

export interface DatarepObject {
  kind: Kind;
  id: string;
  /** Of a group: how many links it has. */
  members: number;
  attrs: Attribute[];
  error?: string;
  /** Of a dataset; null: no elements. */
  dims?: number[] | null;
  maxdims?: number[] | null;
  layout?: 'null' | 'compact' | 'contiguous' | 'chunked';
  chunk?: number[] | null;
  /** The data representation of its elements. */
  datarep?: string;
  filters?: { id: number; name: string }[];
  dimensions?: ({ address: string; coordinate?: string } | null)[];
  t?: Layout;
}

export interface Member {
  name: string;
  link: 'hard' | 'soft' | 'external' | 'unknown';
  /** Of a hard link's object. */
  kind?: Kind;
  target?: string;
  file?: string;
  object?: DatarepObject;
}

export interface Work {
  /** Cancels: the promise is rejected with an AbortError. */
  signal?: AbortSignal;
  /** Called after each request. */
  progress?: (done: { requests: number; bytes: number; rounds: number }) => void;
}

export interface ReadOptions extends Work {
  /** The most bytes that the elements may take: 268435456 unless given. */
  limit?: number;
  /** Structs are arrays of their members. */
  records?: boolean;
}

export interface Result {
  /** null: no elements.  Dimensions of which one index was selected are left out. */
  shape: number[] | null;
  /** Row-major; of rank 0 one value. */
  data: Data | Value;
  type: Layout;
  /** Numbers beyond the type that JavaScript has: they are infinite, or lost upper bits. */
  overflow: number;
  /** Numbers that were rounded, as long doubles are. */
  inexact: number;
}

export interface Axis {
  label: string;
  /** At its two ends; from > to: upside down. */
  from: number;
  to: number;
  log: boolean;
  ticks: { at: number; text: string }[];
}

/** A picture as `datarep plot` works it out: values are reduced to what it has room for. */
export interface Picture {
  title: string;
  /** Pixels. */
  width: number;
  height: number;
  /** The axes are longitude and latitude: a degree is as long on one as on the other. */
  map: boolean;
  x: Axis;
  y: Axis;
  /** What the command would have said, "" if nothing. */
  note: string;
  /** low is high where a column has one point; NaN: none. */
  line?: { n: number; points: boolean; x: Float64Array; low: Float64Array; high: Float64Array };
  /** Row by row from the top; NaN: no value. */
  image?: { rows: number; columns: number; cells: Float64Array };
  /** Of an image: the scale of its values, and 256 colours, 0xRRGGBB. */
  value?: Axis;
  colors?: number[];
}

export class DatarepFile {
  private constructor();
  readonly header: {
    name: string; size: number; datarep: string; form: string; writer: string; machine: string;
    version: string; sequence: string; time: string; uuid: string;
  };
  readonly stats: { requests: number; bytes: number; rounds: number; heap: number };
  get(path?: string, options?: Work): Promise<DatarepObject>;
  list(path?: string, options?: Work & { skip?: number; limit?: number; objects?: boolean }):
    Promise<{ members: Member[]; more: boolean }>;
  paths(path?: string, options?: Work & { limit?: number }): Promise<string[]>;
  /** select: "[0, 10:20, ::2]", as NumPy writes it. */
  read(path: string, options?: ReadOptions & { select?: string }): Promise<Result>;
  readAttribute(path: string, name: string, options?: ReadOptions): Promise<Result>;
  attributes(path?: string, options?: ReadOptions): Promise<Record<string, Data | Value>>;
  /** operand: "/path" or "/path[0, :, :]", of one or two dimensions; low, high: limits of the values. */
  plot(operand: string, options?: Work & { width?: number; height?: number; low?: number; high?: number }): Promise<Picture>;
  /** Longitudes and latitudes of coasts, in pairs, NaN where a line ends; the file has them in GSHHG's form. */
  coast(box: { west: number; east: number; south: number; north: number }, options?: Work): Promise<Float64Array>;
  close(): void;
}

/** `code` is the number of the library's DREP_ERR_...; 0: not from the library. */
export class DatarepError extends Error {
  readonly code: number;
}

export interface OpenOptions extends Work {
  /** Bytes of the file that are kept between calls: 33554432 unless given. */
  cacheBytes?: number;
  /** Of a URL: what messages name it. */
  name?: string;
  /** Used for URLs. */
  fetch?: typeof fetch;
}

/** Loads and compiles the core, once; a program may begin that before it opens a file. */
export function load(): Promise<WebAssembly.Module>;
/** Opens a file: a URL, a Blob (as a dropped file is), the bytes; in Node a path, too. */
export function open(what: string | URL | Blob | Uint8Array | ArrayBuffer, options?: OpenOptions): Promise<DatarepFile>;
