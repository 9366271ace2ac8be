import type { Data } from '#contract';
import { parsePointer } from '../../values/pointer.ts';
import type { ConfigChange } from './config-diff.ts';

/** Maximum length of a value shown in full, in characters. */
const MAX_VALUE = 200;

/** Steps from the endpoint of a change, or from the service, to the changed setting; none for a whole endpoint. */
export function stepsOf({ pointer, route }: ConfigChange): string[] {
  const steps = parsePointer(pointer);
  return route ? steps.slice(2) : steps;
}

/** Describes a change of a setting, for example `backend[0].allow: added ["id"]`. */
export function describeChange(change: ConfigChange): string {
  const { op, from, to, effect } = change;
  const note = effect === 'swap' ? '' : ` (${effect})`;
  const values = {
    add: `added ${show(to)}`,
    remove: `removed, was ${show(from)}`,
    replace: `${show(from)} → ${show(to)}`,
  };
  return `${nameOf(stepsOf(change))}: ${values[op]}${note}`;
}

function nameOf(steps: readonly string[]): string {
  return steps.reduce(
    (name, step) => (/^\d+$/.test(step) ? `${name}[${step}]` : name === '' ? step : `${name}.${step}`),
    '',
  );
}

function show(value: Data | undefined): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
