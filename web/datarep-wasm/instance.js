// instance.js - one instance of the core: memory, calls, and what the system has in a process.
// SPDX-License-Identifier: MIT

const text = new TextDecoder(), bytes = new TextEncoder();
const NO_SYSTEM_CALL = -52, BAD_DESCRIPTOR = 8;

/** A call of the core failed; `code` is the number of its DREP_ERR_... */
export class DatarepError extends Error {
  constructor(message, code = 0) {
    super(message);
    this.name = 'DatarepError';
    this.code = code;
  }
}

// The module asks for a clock, and for files that it is told not to have.
function system(view) {
  const absent = () => NO_SYSTEM_CALL, none = () => 0, bad = () => BAD_DESCRIPTOR;
  return {
    wasi_snapshot_preview1: {
      clock_time_get(id, ...rest) {
        view().setBigUint64(rest.at(-1), BigInt(Math.round(Date.now() * 1e6)), true);
        return 0;
      },
      environ_sizes_get(count, size) {
        view().setUint32(count, 0, true);
        view().setUint32(size, 0, true);
        return 0;
      },
      environ_get: none,
      proc_exit() { throw new DatarepError('the core ended'); },
      fd_close: bad, fd_seek: bad, fd_write: bad, fd_read: bad,
    },
    env: {
      emscripten_notify_memory_growth() {},
      _dlopen_js: none, _dlsym_js: none, __call_sighandler() {},
      __syscall_fstat64: absent, __syscall_stat64: absent, __syscall_fstatat64: absent, __syscall_lstat64: absent,
      __syscall_openat: absent, __syscall_getcwd: absent, __syscall_readlink: absent, __syscall_geteuid32: none,
    },
  };
}

export class Instance {
  /** read(offset, size, address): true, or false if these bytes are not there yet. */
  static async make(module, read) {
    const self = new Instance();
    const host = {
      read(at, n) {
        const view = self.view();
        let all = true;
        for (let i = 0; i < n; i++, at += 16) {
          const offset = view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
          all = read(offset, view.getUint32(at + 8, true), view.getUint32(at + 12, true)) && all;
        }
        return all ? 0 : 1;
      },
    };
    const {exports} = await WebAssembly.instantiate(module, {host, ...system(() => self.view())});
    self.exports = exports;
    exports._initialize();
    return self;
  }

  view() { return new DataView(this.exports.memory.buffer); }
  heap() { return new Uint8Array(this.exports.memory.buffer); }

  /** The text of `size` bytes at an address; without a size, up to a NUL. */
  text(at, size) {
    const heap = this.heap();
    return at ? text.decode(heap.slice(at, size === undefined ? heap.indexOf(0, at) : at + size)) : '';
  }

  /** Calls web_NAME; texts among the arguments are copied.  What it answers, parsed. */
  call(name, ...args) {
    const texts = [];
    try {
      const given = args.map(a => {
        if (typeof a !== 'string') return a;
        const b = bytes.encode(a), at = this.exports.malloc(b.length + 1);
        if (!at) throw new DatarepError('no memory is left');
        texts.push(at);
        this.heap().set(b, at);
        this.heap()[at + b.length] = 0;
        return at;
      });
      const code = this.exports['web_' + name](...given);
      if (code) throw new DatarepError(this.text(this.exports.web_error()) || 'error ' + code, code);
      return JSON.parse(this.text(this.exports.web_text(), this.exports.web_size()));
    } finally {
      for (const at of texts) this.exports.free(at);
    }
  }
}

/** The core's module, made by the first call; after a failure the next one tries anew. */
export function loader(make) {
  let module;
  return () => {
    module ??= make();
    module.catch(() => { module = undefined; });
    return module;
  };
}
