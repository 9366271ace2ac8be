import { type Data, type DataObject, isObject, parsePointer } from '#contract';
import { descend } from '../../lib/references.ts';

/** How many references may lead to one another. */
const MAX_STEPS = 32;

/** Follows the references of a document, all of which lead inside it. */
export class Resolver {
  readonly document: DataObject;

  constructor(document: DataObject) {
    this.document = document;
  }

  /** The object that a value is, or that it refers to; undefined for what is none, and for references in a circle. */
  object(value: Data | undefined): DataObject | undefined {
    let next = value;
    for (let step = 0; step < MAX_STEPS; step++) {
      if (!isObject(next)) return undefined;
      const { $ref: reference } = next;
      if (typeof reference !== 'string') return next;
      next = this.#at(reference);
    }
    return undefined;
  }

  /** A value that is data, or what it refers to; undefined where that is nowhere. */
  sample(value: Data | undefined): Data | undefined {
    const reference = isObject(value) ? value['$ref'] : undefined;
    return typeof reference === 'string' ? this.#at(reference) : value;
  }

  /** The objects in a list, each looked up. */
  objects(list: Data | undefined): DataObject[] {
    return Array.isArray(list) ? list.flatMap((item): DataObject[] => [this.object(item) ?? []].flat()) : [];
  }

  /** The members of an object, each looked up. */
  members(value: Data | undefined): [name: string, member: DataObject][] {
    const object = this.object(value);
    if (!object) return [];
    return Object.entries(object).flatMap(([name, member]): [string, DataObject][] => {
      const resolved = this.object(member);
      return resolved ? [[name, resolved]] : [];
    });
  }

  /** Whoever has read the document has decoded its references. */
  #at(reference: string): Data | undefined {
    return reference.startsWith('#') ? descend(this.document, parsePointer(reference.slice(1))) : undefined;
  }
}
