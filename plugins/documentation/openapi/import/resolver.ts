import { type Data, type DataObject, isObject, parsePointer } from '#contract';
import { descend } from '../../lib/references.ts';

/** Maximum length of a chain of references. */
const MAX_STEPS = 32;

/** Resolves the references of a document, all of which are internal. */
export class Resolver {
  readonly document: DataObject;

  constructor(document: DataObject) {
    this.document = document;
  }

  /** Returns a value that is an object, or the object that it references; undefined for anything else and for circular references. */
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

  /** Returns a data value, or the value that it references; undefined if the target does not exist. */
  sample(value: Data | undefined): Data | undefined {
    const reference = isObject(value) ? value['$ref'] : undefined;
    return typeof reference === 'string' ? this.#at(reference) : value;
  }

  /** Returns the objects in a list, with references resolved. */
  objects(list: Data | undefined): DataObject[] {
    return Array.isArray(list) ? list.flatMap((item): DataObject[] => [this.object(item) ?? []].flat()) : [];
  }

  /** Returns the members of an object, with references resolved. */
  members(value: Data | undefined): [name: string, member: DataObject][] {
    const object = this.object(value);
    if (!object) return [];
    return Object.entries(object).flatMap(([name, member]): [string, DataObject][] => {
      const resolved = this.object(member);
      return resolved ? [[name, resolved]] : [];
    });
  }

  /** References were already decoded when the document was read. */
  #at(reference: string): Data | undefined {
    return reference.startsWith('#') ? descend(this.document, parsePointer(reference.slice(1))) : undefined;
  }
}
