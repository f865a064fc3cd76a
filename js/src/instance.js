/**
 * The WebAssembly module: loaded when it is first needed, and made anew after a trap.
 *
 * A trap (a panic, or a stack that is too deep) ends an instance, never the page: its values are gone, and whatever is
 * asked of them throws. What can be made again, vocabularies, compilers and grammars, is made again in the next instance.
 */
import { SyntagmaError, check } from "./errors.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

let source = () => new URL("../dist/syntagma.wasm", import.meta.url);
let module;
let latest;

/** Says where the module is, before anything else: see `index.d.ts`. */
export function useWasm(given) {
  source = () => given;
  module = latest = undefined;
}

async function load(from) {
  if (from instanceof WebAssembly.Module) {
    return from;
  }
  if (from instanceof ArrayBuffer || ArrayBuffer.isView(from)) {
    return WebAssembly.compile(from);
  }
  // Not imported: bundlers for browsers have no such module.
  const files = globalThis.process?.getBuiltinModule?.("node:fs");
  if (files && from instanceof URL && from.protocol === "file:") {
    return WebAssembly.compile(await files.promises.readFile(from));
  }
  const response = from instanceof Response ? from : await fetch(from);
  if (!response.ok) {
    throw new SyntagmaError({
      kind: "ArgumentError",
      code: "E-ARGUMENT-VALUE",
      message: `the module cannot be loaded: ${response.url} gives ${response.status}`,
      hint: "useWasm(source) says where syntagma.wasm is",
    });
  }
  // Servers that do not know the type of the file send it all the same.
  return WebAssembly.compile(await response.arrayBuffer());
}

function begun() {
  module ??= load(source());
  const [loading, made] = [module, module.then(async (loaded) => new Instance(await WebAssembly.instantiate(loaded)))];
  made.catch(() => {
    // What could not be loaded is tried again.
    latest = latest === made ? undefined : latest;
    module = module === loading ? undefined : module;
  });
  return made;
}

/** The instance that values are made in now. */
export async function instance() {
  latest ??= begun();
  const asked = latest;
  const found = await asked;
  if (!found.ended) {
    return found;
  }
  // Whoever comes first makes the next one, for all.
  latest = latest === asked ? undefined : latest;
  return instance();
}

/** Bytes that are written as they are, without their length. */
export class Raw {
  constructor(bytes) {
    this.bytes = bytes;
  }
}

const forgotten = new FinalizationRegistry(({ owner, number }) => owner.drop(number));

class Instance {
  #exports;

  constructor({ exports }) {
    this.#exports = exports;
    /** The error after which nothing more can be asked. */
    this.ended = undefined;
    exports.begin(...crypto.getRandomValues(new BigUint64Array(2)));
  }

  /** Calls an export that gives a number, -1 for an error. */
  call(name, ...numbers) {
    if (this.ended) {
      throw this.ended;
    }
    let answer;
    try {
      answer = this.#exports[name](...numbers);
    } catch (trap) {
      throw this.#end(trap);
    }
    if (answer === -1) {
      throw this.error();
    }
    return answer;
  }

  /** An address, of which the sign is a bit like any other. */
  #address(name, ...numbers) {
    return this.call(name, ...numbers) >>> 0;
  }

  /** The error that is the output. */
  error() {
    return new SyntagmaError(JSON.parse(this.text()));
  }

  #end(trap) {
    const { last_words: words, last_words_length: length, memory } = this.#exports;
    const said = decoder.decode(new Uint8Array(memory.buffer, words(), length()).slice());
    this.ended = new SyntagmaError({
      kind: "MatcherError",
      code: "E-ENGINE-PANIC",
      message: said ? `a panic: ${said}` : `the engine stopped: ${trap.message ?? trap}`,
      hint: "make the compiled grammar and the matcher again; please report this with the grammar",
    });
    return this.ended;
  }

  /**
   * Writes arguments: a number is one of 4 bytes; a string or bytes stand behind their length, arrays behind theirs, and
   * `Raw` behind nothing.
   */
  write(...parts) {
    const ready = [];
    let length = 0;
    const add = (part) => {
      if (typeof part === "number") {
        length += 4;
        ready.push(part);
      } else if (Array.isArray(part)) {
        add(part.length);
        part.forEach(add);
      } else if (part instanceof Raw) {
        length += part.bytes.length;
        ready.push(part.bytes);
      } else {
        const bytes = typeof part === "string" ? encoder.encode(part) : part;
        add(bytes.length);
        length += bytes.length;
        ready.push(bytes);
      }
    };
    parts.forEach(add);
    let at = this.#address("input", length);
    const { buffer } = this.#exports.memory;
    const [view, memory] = [new DataView(buffer), new Uint8Array(buffer)];
    for (const part of ready) {
      if (typeof part === "number") {
        view.setUint32(at, part, true);
        at += 4;
      } else {
        memory.set(part, at);
        at += part.length;
      }
    }
  }

  /** The bytes of the output. */
  bytes() {
    const at = this.#address("output");
    return new Uint8Array(this.#exports.memory.buffer, at, this.call("output_length")).slice();
  }

  text() {
    return decoder.decode(this.bytes());
  }

  /** So many words from an address on. */
  words(at, count) {
    return new Int32Array(this.#exports.memory.buffer, at >>> 0, count).slice();
  }

  /** A value of a call that gives its number. */
  make(name, ...numbers) {
    return new Handle(this, this.call(name, ...numbers));
  }

  drop(number) {
    if (!this.ended) {
      this.call("dispose", number);
    }
  }
}

/** A value in an instance. What nobody holds any more is dropped, at once with `dispose`. */
class Handle {
  constructor(owner, number) {
    this.owner = owner;
    this.number = number;
    forgotten.register(this, { owner, number }, this);
  }

  call(name, ...numbers) {
    return this.owner.call(name, this.id(), ...numbers);
  }

  id() {
    if (this.number === 0) {
      throw new SyntagmaError({
        kind: "ArgumentError",
        code: "E-ARGUMENT-FINISHED",
        message: "it is used after dispose()",
      });
    }
    return this.number;
  }

  dispose() {
    if (this.number !== 0) {
      forgotten.unregister(this);
      this.owner.drop(this.number);
      this.number = 0;
    }
  }
}

/** A handle that is made again where its instance has ended. */
export class Lasting {
  #make;

  static async of(make) {
    const made = new Lasting();
    made.#make = make;
    made.now = await make(await instance());
    return made;
  }

  /** The handle, in the instance of today. */
  async get() {
    this.now.id();
    const today = await instance();
    if (this.now.owner !== today) {
      this.now = await this.#make(today);
    }
    return this.now;
  }

  dispose() {
    this.now.dispose();
  }
}

/** Refuses what no factory has made. */
export function checkHandle(name, handle) {
  return check(name, handle, handle instanceof Handle || handle instanceof Lasting, "a handle; use the static methods");
}
