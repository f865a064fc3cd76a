import { check, checkText } from "./errors.js";

/** A tag of the older form: what begins it, the schema inside, and what ends it. */
export class StructuralTagItem {
  constructor(begin, schema, end) {
    this.begin = begin;
    this.schema = schema;
    this.end = end;
  }

  getSchemaAsString() {
    return typeof this.schema === "string" ? this.schema : JSON.stringify(this.schema);
  }

  getSchemaAsJSON() {
    return typeof this.schema === "string" ? JSON.parse(this.schema) : this.schema;
  }
}

/** The JSON text of a structural tag, which is given as text, as an object, or as items and triggers. */
export function structuralTagText(tag, triggers) {
  if (triggers !== undefined) {
    check("tags", tag, Array.isArray(tag), "an array of StructuralTagItem");
    check("triggers", triggers, Array.isArray(triggers), "an array of strings");
    const structures = tag.map(({ begin, schema, end }) => ({ begin, schema, end }));
    return JSON.stringify({ triggers, structures });
  }
  if (typeof tag === "object" && tag !== null && !Array.isArray(tag)) {
    return JSON.stringify(tag);
  }
  return checkText("structuralTag", tag);
}
