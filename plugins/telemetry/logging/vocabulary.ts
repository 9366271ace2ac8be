import { compileLayout } from './go-time.ts';
import { latency, latencyNames } from './latency.ts';
import { printed, type Read, type Vocabulary } from './pattern.ts';

/** Default layout of `%{time}`. */
const timeLayout = '2006/01/02 - 15:04:05.000';

/**
 * Variables of a log, with the time and the latency that every record has.
 * @param fixed constant texts. @param dotted finds variables such as `header.NAME`, which `dottedNames` lists.
 */
export function vocabularyOf<R extends { readonly endedAt: number; readonly latencyMs: number }>(
  fixed: Readonly<Record<string, string>>,
  plain: ReadonlyMap<string, Read<R>>,
  dotted: (name: string) => Read<R> | undefined,
  dottedNames: readonly string[],
): Vocabulary<R> {
  return {
    names: [...Object.keys(fixed), 'time', ...latencyNames, ...plain.keys(), ...dottedNames],
    find(name, format) {
      if (Object.hasOwn(fixed, name)) return { text: fixed[name]! };
      if (name === 'time') {
        const print = compileLayout(format === '' ? timeLayout : format);
        return { read: (record) => print(record.endedAt) };
      }
      const elapsed = latency<R>(name, format);
      if (elapsed) return elapsed;
      const read = plain.get(name) ?? dotted(name);
      return read && printed(read, format);
    },
  };
}
