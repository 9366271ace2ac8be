import { type BackendConfig, type EndpointConfig, findNear } from '#contract';
import { joinPointer } from '../../values/pointer.ts';
import type { Report } from '../issues/report.ts';
import { type KnownPlugins, leavesAlone, meaningsOf } from '../normalize/known-plugins.ts';
import { type EndpointRule, routeName, type Written } from './rule.ts';

/** Braces that contain quotes are literal text, such as JSON in a query string, and not a placeholder. */
const PLACEHOLDER = /\{([^{}"]*)\}/g;

/**
 * Checks that every placeholder in a backend's `url_pattern` and `host` has a value at request time.
 *
 * Code: ROUTE_PLACEHOLDER.
 */
export const placeholders: EndpointRule = (endpoint, pointer, _service, report, written, known) => {
  let variables: ReadonlySet<string> | undefined;
  endpoint.backend.forEach((backend, index) => {
    const at = `${pointer}/backend/${index}`;
    if (backend.url_pattern.includes('{')) {
      variables ??= variablesOf(endpoint.endpoint);
      checkText(
        backend.url_pattern,
        `${at}/url_pattern`,
        { endpoint, pointer, index, variables, written, known },
        report,
      );
    }
    if (!backend.disable_host_sanitize) return;
    backend.host.forEach((host, position) => {
      if (!host.includes('{')) return;
      variables ??= variablesOf(endpoint.endpoint);
      checkText(host, `${at}/host/${position}`, { endpoint, pointer, index, variables, written, known }, report);
    });
  });
};

interface Occurrence {
  readonly endpoint: EndpointConfig;
  readonly pointer: string;
  /** Position of the backend. */
  readonly index: number;
  readonly variables: ReadonlySet<string>;
  readonly written: Written;
  readonly known: KnownPlugins;
}

/** Error in a placeholder. */
interface Fault {
  readonly reason?: string;
  readonly hint?: string;
  /** A declared name that differs only in letter case and dashes. */
  readonly same?: string | undefined;
  readonly related?: readonly string[];
}

function checkText(text: string, pointer: string, place: Occurrence, report: Report): void {
  if (isFilled(text, place.variables)) return;
  for (const { 0: whole, 1: name, index } of text.matchAll(PLACEHOLDER)) {
    const fault = checkPlaceholder(name!, place);
    if (fault === undefined) continue;
    const source = place.written(pointer);
    // Normalization may have added a leading slash that is not in the document.
    const start = index - (typeof source === 'string' ? text.length - source.length : 0);
    const { reason, hint, same, related = [`${place.pointer}/endpoint`] } = fault;
    const why = reason ? `has no value: ${reason}` : `is not declared by ${routeName(place.endpoint)}`;
    report.error('ROUTE_PLACEHOLDER', pointer, `${whole} ${why}`, {
      hint,
      within: { start, end: start + whole.length },
      fix:
        same !== undefined && typeof source === 'string'
          ? { value: source.replaceAll(whole, () => `{${same}}`) }
          : undefined,
      related,
    });
  }
}

/** True if every placeholder is a variable of the endpoint, as most are. */
function isFilled(text: string, variables: ReadonlySet<string>): boolean {
  for (let open = text.indexOf('{'); open >= 0; ) {
    const close = text.indexOf('}', open);
    if (close < 0 || !variables.has(text.slice(open + 1, close))) return false;
    open = text.indexOf('{', close);
  }
  return true;
}

/** @returns undefined if the placeholder can be filled in. */
function checkPlaceholder(name: string, place: Occurrence): Fault | undefined {
  const { variables } = place;
  if (variables.has(name)) return undefined;
  const reference = /^resp(\d+)_(.+)$/.exec(name);
  if (reference) return checkResponseReference(Number(reference[1]), reference[2]!, place);
  if (/^JWT\..+$/.test(name)) return checkClaim(place);
  if (/^input_(?:headers|query_strings)\..+$/.test(name)) return undefined;
  const near = findNear(name, variables);
  if (near) {
    const isSame = near.isSure && plain(near.name) === plain(name);
    return { hint: `{${near.name}}`, same: isSame ? near.name : undefined };
  }
  const declared = Array.from(variables, (variable) => `{${variable}}`).join(', ');
  if (declared) return { hint: `the endpoint declares ${declared}` };
  return {
    hint: place.endpoint.endpoint.endsWith('/*')
      ? 'remove it: the path matched by the wildcard is appended to url_pattern'
      : "declare it in the endpoint's path",
  };
}

/** Claims cannot be checked if the endpoint has unknown components, which may provide them. */
function checkClaim({ endpoint, pointer, known }: Occurrence): Fault | undefined {
  const { remedies } = known.compatibility;
  const isGiven = Object.keys(endpoint.extra_config).some((name) => !known.plugin(name));
  if (isGiven || meaningsOf(endpoint.extra_config, 'endpoint', known).some(({ meaning }) => meaning.claims)) {
    return undefined;
  }
  return { reason: `claims require ${remedies?.claims ?? 'token validation'} on the endpoint`, related: [pointer] };
}

function checkResponseReference(
  source: number,
  field: string,
  { endpoint, pointer, index, known }: Occurrence,
): Fault | undefined {
  const reported = meaningsOf(endpoint.extra_config, 'endpoint', known).find(({ meaning }) => meaning.sequence);
  if (!reported) {
    const { earlier } = known.compatibility.remedies ?? {};
    const namespace = earlier?.field.split('.')[0] ?? '';
    const isThere = Object.hasOwn(endpoint.extra_config, namespace);
    return {
      reason: `responses of other backends require ${earlier?.field ?? 'sequential backend calls'}`,
      ...(earlier && { hint: earlier.hint }),
      related: [isThere ? joinPointer(pointer, 'extra_config', namespace) : pointer],
    };
  }
  const sequential = joinPointer(pointer, 'extra_config', reported.namespace) + reported.meaning.sequence;
  if (source < index) {
    return checkField(field, endpoint.backend[source]!, `${pointer}/backend/${source}`, source, known);
  }
  if (source >= endpoint.backend.length) {
    const last = endpoint.backend.length - 1;
    return { reason: `backend ${source} does not exist: the last one is ${last}`, related: [sequential] };
  }
  return {
    reason: `backend ${source} has not responded before backend ${index}`,
    related: [`${pointer}/backend/${source}`, sequential],
  };
}

/** Fields that a backend's own filter drops are not available to later backends. Cannot be checked if names change. */
function checkField(
  field: string,
  backend: BackendConfig,
  at: string,
  source: number,
  known: KnownPlugins,
): Fault | undefined {
  const { allow = [], mapping = {}, group, extra_config: extra } = backend;
  if (allow.length === 0 || group || Object.keys(mapping).length > 0 || !leavesAlone(extra, 'data', known)) {
    return undefined;
  }
  const isKept = allow.some((path) => path === field || path.startsWith(`${field}.`) || field.startsWith(`${path}.`));
  if (isKept) return undefined;
  return {
    reason: `'allow' of backend ${source} drops ${field}`,
    ...nearAllowed(field, allow, source),
    related: [`${at}/allow`],
  };
}

function nearAllowed(field: string, allow: readonly string[], source: number): Pick<Fault, 'hint'> {
  const near = findNear(field, allow);
  return near ? { hint: `{resp${source}_${near.name}}` } : {};
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

function variablesOf(path: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (let open = path.indexOf('{'); open >= 0; open = path.indexOf('{', open + 1)) {
    const close = path.indexOf('}', open);
    const name = path.slice(open + 1, Math.max(open, close));
    if (close >= 0 && !name.includes('{')) names.add(name);
  }
  return names;
}

/**
 * Checks that `url_pattern` is a path: hosts belong in `host`, and the path matched by a wildcard is appended.
 *
 * Codes: warnings URL_PATTERN_HOST, URL_PATTERN_WILDCARD.
 */
export const urlPattern: EndpointRule = (endpoint, pointer, _service, report) => {
  const isWildcard = endpoint.endpoint.endsWith('/*');
  endpoint.backend.forEach(({ url_pattern: pattern }, index) => {
    const at = `${pointer}/backend/${index}/url_pattern`;
    if (isWildcard && pattern.endsWith('/*')) {
      const message = `"*" in url_pattern is sent literally: the path matched by the wildcard is appended to "${pattern}"`;
      report.warn('URL_PATTERN_WILDCARD', at, message, { hint: `"${pattern.slice(0, -1)}"` });
    }
    // Normalization has added the leading slash.
    const [, origin] = /^\/(https?:\/\/[^/?]*)/i.exec(pattern) ?? [];
    if (origin === undefined) return;
    const message = `url_pattern is a path: "${origin}" would become a part of it`;
    const hint = `"host": ["${origin}"], and the rest in url_pattern`;
    report.warn('URL_PATTERN_HOST', at, message, { hint });
  });
};
