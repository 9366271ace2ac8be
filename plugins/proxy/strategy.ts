import { type Conversion, type DataObject, isObject, joinPointer } from '#contract';

/** The value of `sequential` for each convertible `strategy`. Other strategies are kept, so that they are reported. */
const sequences: ReadonlyMap<unknown, boolean> = new Map([
  ['sequential', true],
  ['parallel', false],
]);

/** Converts `strategy`, the name of version 4 of the format, to `sequential`, over which it has precedence. */
export function convertStrategies(document: DataObject, report: Conversion): void {
  for (const { holder, pointer } of report.holders(document)) {
    const components = holder['extra_config'];
    const config = isObject(components) && Object.hasOwn(components, 'proxy') ? components['proxy'] : undefined;
    if (!isObject(config) || !Object.hasOwn(config, 'strategy')) continue;
    const isSequential = sequences.get(config['strategy']);
    if (isSequential === undefined) continue;
    delete config['strategy'];
    config['sequential'] = isSequential;
    report.moved(joinPointer(pointer, 'extra_config', 'proxy'), 'sequential', 'strategy');
  }
}

/** True when each backend is called only if the one before it failed. It takes precedence over `sequential`. */
export function isFallback(config: Readonly<{ strategy?: unknown }>): boolean {
  return config.strategy === 'fallback';
}

/** True when the backends are called one after another, and all of them. */
export function isSequence(config: Readonly<{ sequential?: unknown; strategy?: unknown }>): boolean {
  return config.sequential === true && !isFallback(config);
}
