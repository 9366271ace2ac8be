import type { BackendConfig } from '#contract';
import { joinPointer } from '../../values/pointer.ts';
import type { Report } from '../issues/report.ts';
import { isUnread } from '../normalize/known-plugins.ts';
import { type EndpointRule, placesOf, type Written } from './rule.ts';

/** Fields that shape a decoded response. */
const FIELDS = ['target', 'allow', 'deny', 'mapping', 'group', 'is_collection'] as const;

/**
 * Checks that the settings that shape a backend's response have an effect.
 *
 * Codes: warnings SHAPE_UNREAD, SHAPE_ALLOW_DENY, SHAPE_EMPTY, SHAPE_MAPPING, SHAPE_PATH.
 */
export const shaping: EndpointRule = (endpoint, pointer, _service, report, written, known) => {
  endpoint.backend.forEach((backend, index) => {
    const at = `${pointer}/backend/${index}`;
    const unread = isUnread(backend.encoding, known);
    if (unread && backend.encoding !== endpoint.output_encoding && endpoint.backend.length === 1) {
      const message = `the response is always empty: encoding "${backend.encoding}" never decodes the body`;
      report.warn('SHAPE_EMPTY', `${at}/encoding`, message, { related: unreadAt(backend, at, pointer, written) });
    }
    if (backend.mapping) reportDropped(backend, backend.mapping, at, report);
    reportPaths(backend, at, report);
    if (unread) {
      const [first, ...others] = FIELDS.filter((field) => isSet(backend[field]));
      if (first === undefined) return;
      const message = `'${first}' has no effect: encoding "${backend.encoding}" never decodes the body`;
      const related = [...others.map((field) => `${at}/${field}`), ...unreadAt(backend, at, pointer, written)];
      report.warn('SHAPE_UNREAD', `${at}/${first}`, message, { related });
    } else if (backend.deny?.length && backend.allow?.length) {
      const message = "'deny' has no effect next to 'allow', which already drops everything it does not list";
      report.warn('SHAPE_ALLOW_DENY', `${at}/deny`, message, { related: [`${at}/allow`] });
    }
  });
};

const none: readonly string[] = Object.freeze([]);

/** Warns of keys that are renamed after a filter has removed them. */
function reportDropped(
  { allow = none, deny = none, is_collection: isList }: BackendConfig,
  mapping: NonNullable<BackendConfig['mapping']>,
  at: string,
  report: Report,
): void {
  if (isList) return;
  for (const key of Object.keys(mapping)) {
    const isKept =
      allow.length === 0 ? !deny.includes(key) : allow.some((path) => path === key || path.startsWith(`${key}.`));
    if (isKept || asDotted(key) !== undefined) continue;
    const field = allow.length === 0 ? 'deny' : 'allow';
    const message = `"${key}" cannot be renamed: '${field}' removes it first`;
    report.warn('SHAPE_MAPPING', joinPointer(at, 'mapping', key), message, { related: [`${at}/${field}`] });
  }
}

/** Pointers to the setting that disables decoding of responses. */
function unreadAt({ encoding }: BackendConfig, at: string, pointer: string, written: Written): readonly string[] {
  return written(`${at}/encoding`) === encoding ? [`${at}/encoding`] : placesOf('output_encoding', pointer, written);
}

function isSet(value: BackendConfig[(typeof FIELDS)[number]]): boolean {
  if (typeof value === 'object') return Object.keys(value).length > 0;
  return Boolean(value);
}

/** Warns of paths written in the syntax of another language. */
function reportPaths({ target, allow, deny, mapping }: BackendConfig, at: string, report: Report): void {
  if (!target && !allow && !deny && !mapping) return;
  const notify = (code: string, path: string, pointer: string) => {
    const hint = asDotted(path);
    if (hint === undefined) return;
    const odd = path.split('.').find((key) => !/^[\w-]+$/.test(key)) ?? '';
    report.warn(code, pointer, `"${path}" contains the key "${odd}": a path consists of keys separated by dots`, {
      hint,
    });
  };
  if (target) notify('SHAPE_PATH', target, `${at}/target`);
  allow?.forEach((path, index) => {
    notify('SHAPE_PATH', path, `${at}/allow/${index}`);
  });
  deny?.forEach((path, index) => {
    notify('SHAPE_PATH', path, `${at}/deny/${index}`);
  });
  for (const key in mapping) notify('SHAPE_MAPPING', key, joinPointer(at, 'mapping', key));
}

/** Converts JSONPath, jq or a JSON pointer to keys separated by dots, up to the first list; undefined for other texts. */
function asDotted(path: string): string | undefined {
  if (!/^[$./]|\[/.test(path) || !/^\$(?:\.|\[)|^\.\w|^\/\w|\[(?:\d+|\*|'[^']*')\]/.test(path)) return undefined;
  const steps = path
    .replace(/^\$/, '')
    .replaceAll(/\[(?:\d+|\*)\]/g, '.*')
    .split(/[./[\]']+/);
  const keys = steps.filter((step) => step !== '');
  const list = keys.indexOf('*');
  return (list < 0 ? keys : keys.slice(0, list)).join('.') || undefined;
}
