import type { Guest, Line, Receive } from '#contract';
import type { Kind } from '../lib/handlers.ts';
import { type ModuleElement, readElements } from '../lib/module-form.ts';
import { GuestPlace } from './guest-place.ts';

/** Names, kinds and schemas of the handlers in a module, sent by its thread. */
export type ModuleManifest = readonly {
  readonly name: string;
  readonly kinds: readonly Kind[];
  readonly configSchema: unknown;
}[];

/** Runs the handlers of a module in the thread of the module. */
export const guest: Guest = {
  manifestOf(module, file): ModuleManifest | undefined {
    const elements = readElements(module, file);
    if (!elements.some(({ isolate }) => isolate)) return undefined;
    return elements.map(({ name, factories, configSchema }) => ({
      name,
      kinds: Object.keys(factories) as Kind[],
      // A schema is plain data; everything else in it is dropped.
      configSchema: configSchema === undefined ? undefined : JSON.parse(JSON.stringify(configSchema)),
    }));
  },
  serve(module, file) {
    const elements = readElements(module, file);
    return {
      open: (line: Line): Receive => new GuestPlace(elements, file, line).receive,
      async close() {
        await Promise.all(elements.map(({ dispose }: ModuleElement) => dispose?.()));
      },
    };
  },
};
