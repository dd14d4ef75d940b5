// blocks.js - the bytes that were fetched, in blocks of 64 KiB, and the fetching of what is missing.
// SPDX-License-Identifier: MIT
import {DatarepError} from './instance.js';

export const BLOCK = 65536;
const GAP = 4, MOST = 64, AT_ONCE = 6; // blocks between two that one request has; blocks of a request; requests
const WORK_MOST = 512 * 2 ** 20;       // bytes that one call may need

export class Blocks {
  constructor(source, budget) {
    this.source = source;
    this.budget = budget;
    this.held = new Map(); // the block used last is the last
    this.works = new Set();
    this.stats = {requests: source.head ? 1 : source.requests ?? 0, bytes: source.head?.length ?? 0, rounds: 0};
    if (source.head?.length === Math.min(BLOCK, source.size)) this.held.set(0, source.head);
  }

  /** A piece of work: its blocks stay until end(). */
  begin() {
    const work = {missing: new Set(), pinned: new Set()};
    this.works.add(work);
    return work;
  }

  end(work) {
    this.works.delete(work);
    for (const k of this.held.keys()) {
      if (this.held.size * BLOCK <= this.budget) break;
      if (![...this.works].some(w => w.pinned.has(k))) this.held.delete(k);
    }
  }

  /** Copies bytes to `heap`, or notes in `work` what is missing. */
  copy(work, at, size, heap, to) {
    if (this.source.take) {
      this.source.take(at, heap.subarray(to, to + size));
      return true;
    }
    const first = Math.floor(at / BLOCK), last = Math.floor((at + Math.max(size, 1) - 1) / BLOCK);
    let all = true;
    for (let k = first; k <= last; k++) {
      work.pinned.add(k);
      if (!this.held.has(k)) { work.missing.add(k); all = false; }
    }
    for (let k = first; all && k <= last; k++) {
      const b = this.held.get(k), from = Math.max(at - k * BLOCK, 0), end = Math.min(at + size - k * BLOCK, b.length);
      heap.set(b.subarray(from, end), to + k * BLOCK + from - at);
      this.held.delete(k);
      this.held.set(k, b);
    }
    return all;
  }

  // Requests for blocks that are missing: [first, count].
  plan(missing) {
    const wanted = [...missing].sort((a, b) => a - b), runs = [];
    for (const k of wanted) {
      const run = runs.at(-1);
      if (run && k - (run[0] + run[1]) <= GAP && k - run[0] < MOST) run[1] = k - run[0] + 1;
      else runs.push([k, 1]);
    }
    return runs;
  }

  async fetch(work, {signal, progress}) {
    const runs = this.plan(work.missing);
    if (work.pinned.size * BLOCK > WORK_MOST)
      throw new DatarepError('more than 512 MiB of the file are needed at once: choose a smaller part');
    this.stats.rounds++;
    const next = async () => {
      for (let run; (run = runs.shift());) {
        const [k, n] = run, at = k * BLOCK;
        const b = await this.source.fetch(at, Math.min(n * BLOCK, this.source.size - at), signal);
        this.stats.requests++;
        this.stats.bytes += b.length;
        for (let i = 0; i < n; i++) {
          work.pinned.add(k + i);
          this.held.set(k + i, b.subarray(i * BLOCK, (i + 1) * BLOCK));
        }
        progress?.({...this.stats});
      }
    };
    await Promise.all(Array.from({length: Math.min(AT_ONCE, runs.length)}, next));
    work.missing.clear();
  }
}
