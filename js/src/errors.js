/** What went wrong: `name` is Python's exception, and the other fields are those that it has. */
export class SyntagmaError extends Error {
  constructor({ kind, code, message, ...fields }) {
    super(message);
    this.name = kind;
    this.code = code;
    Object.assign(this, fields);
  }

  toString() {
    const where = this.pointer ?? (this.line && `line ${this.line}, column ${this.column}`);
    const place = where ? ` at ${where}` : "";
    return `${this.name} ${this.code}${place}: ${this.message}${this.hint ? ` (${this.hint})` : ""}`;
  }
}

/** An argument that cannot be meant. */
export function wrongValue(name, message, hint) {
  const fields = hint === undefined ? {} : { hint };
  return new SyntagmaError({
    kind: "ArgumentError",
    code: "E-ARGUMENT-VALUE",
    message,
    pointer: `/${name}`,
    ...fields,
  });
}

/** Refuses an argument of another type than `wanted`. */
export function check(name, value, is, wanted) {
  if (is) {
    return value;
  }
  const given = value === null ? "null" : Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
  throw new SyntagmaError({
    kind: "ArgumentTypeError",
    code: "E-ARGUMENT-TYPE",
    message: `${name} must be ${wanted}, not ${given}`,
    pointer: `/${name}`,
  });
}

/** Refuses what is no string, or has half of a character that takes two units: no bytes stand for it. */
export function checkText(name, value) {
  if (check(name, value, typeof value === "string", "a string").isWellFormed()) {
    return value;
  }
  throw new SyntagmaError({
    kind: "ArgumentError",
    code: "E-ARGUMENT-TEXT",
    message: `${name} has a lone surrogate`,
    pointer: `/${name}`,
  });
}

export function checkWhole(name, value, least = 0) {
  check(name, value, Number.isInteger(value), "a whole number");
  if (value < least || value > 0xffffffff) {
    throw wrongValue(name, `${name} is ${value}, which is outside of its range`);
  }
  return value;
}
