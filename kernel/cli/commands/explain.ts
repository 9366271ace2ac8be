import type { Flags } from '#contract';
import { type Considered, type Explanation, explainRequest, type Forwarded, type Match } from '../../inspect/index.ts';
import { readArguments, UsageError } from '../arguments.ts';
import { type Command, configVariables } from '../command.ts';
import { configFlag, formatFlag, isJson, pluginsFlag, serveFile } from '../files/accepted-file.ts';
import { requireFile } from '../files/config-file.ts';
import { showPlace } from '../formats/report.ts';
import { parseHeader } from '../header-flag.ts';
import { alignColumns } from '../terminal.ts';

const flags = {
  config: configFlag,
  plugins: pluginsFlag,
  header: {
    type: 'string',
    short: 'H',
    multiple: true,
    value: "'NAME: VALUE'",
    otherwise: 'none',
    about: 'Request header. Can be repeated.',
  },
  format: formatFlag,
} as const satisfies Flags;

/** Exit code when no endpoint matches the request. */
const NONE = 1;
/** Exit code for an invalid configuration. */
const REFUSED = 2;

/**
 * Shows how a request would be processed, without sending it. Exit code 0 when an endpoint matches, 1 when none does,
 * otherwise 2.
 */
export const explain: Command = {
  usage: '[-c FILE] METHOD PATH[?QUERY]',
  flags,
  variables: configVariables,
  summary: 'Show which endpoint serves a request, and which requests its backends receive.',
  details: 'Exit codes: 0 an endpoint matches, 1 none matches, 2 usage error or invalid file.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const file = requireFile(values.config, [], context);
    const json = isJson(values.format);
    const [method, target] = positionals;
    if (method === undefined || target === undefined || positionals.length > 2) {
      throw new UsageError('a method and a path are required');
    }
    const headers = (values.header ?? []).map(parseHeader);
    const opened = await serveFile(file, { ...context, plugins: values.plugins });
    if (!opened) return REFUSED;
    const sample = { method: method.toUpperCase(), target, headers };
    const explanation = await explainRequest(opened.served, sample, opened.positionOf);
    const text = json ? JSON.stringify(explanation) : describe(explanation).join('\n');
    context.stdout.write(`${text}\n`);
    const { kind } = explanation.match;
    return kind === 'route' || kind === 'builtin' ? 0 : NONE;
  },
};

const responses: { readonly [K in Match['kind']]: (match: Extract<Match, { kind: K }>) => string } = {
  route: ({ route }) => `${route.id}  ${showPlace(route)}`,
  builtin: () => 'a built-in endpoint of the gateway',
  options: ({ allow }) => `200, Allow: ${allow.join(', ')}`,
  redirect: ({ status, location }) => `${status}, Location: ${location}`,
  method: ({ allow }) => `405, Allow: ${allow.join(', ')}`,
  refused: () => '400',
  none: () => '404',
};

function describe(explanation: Explanation): string[] {
  const { match, why, rivals, nearMisses, service, stages, outputEncoding, forwarded } = explanation;
  const answeredBy = (responses[match.kind] as (match: Match) => string)(match);
  const rows: string[][] = [
    ['answered by', answeredBy],
    ['because', why],
  ];
  if (match.kind === 'route') {
    for (const [name, value] of Object.entries(match.params)) rows.push(['variable', `${name} = ${value}`]);
    rows.push(['timeout', `${match.route.timeoutMs}ms`], ['output', outputEncoding ?? '']);
  }
  if (service.length > 0) rows.push(['service', service.join(' > ')]);
  if (stages.length > 0) rows.push(['around', showStages(stages)]);
  const others = [...rivals.map(considered('also matching')), ...nearMisses.map(considered('similar'))];
  return [...alignColumns([...rows, ...others]), ...forwarded.flatMap(describeBackend)];
}

function considered(label: string): (other: Considered) => string[] {
  return ({ route, why }) => [label, `${route.id}: ${why}  ${showPlace(route)}`];
}

function showStages(stages: Explanation['stages']): string {
  return stages.map(({ namespace, as }) => `${namespace} (${as})`).join(' > ');
}

function describeBackend(backend: Forwarded, index: number): string[] {
  const rows: string[][] = backend.urls.map((url, at) => [at === 0 ? 'sends' : 'or', `${backend.method} ${url}`]);
  if (backend.condition !== null) rows.unshift(['called for', backend.condition]);
  if (backend.refused !== null) rows.push(['sends', `nothing: ${backend.refused}`]);
  if (backend.patternQueryLost) rows.push(['', 'the forwarded query replaces the query of url_pattern']);
  for (const [name, value] of backend.headers) rows.push(['header', `${name}: ${value}`]);
  if (backend.refused === null) rows.push(['body', backend.body ? "the client's" : 'none']);
  rows.push(['read as', backend.encoding], ['pipe', showStages(backend.stages)]);
  for (const { name, why } of backend.clientHeaders) if (why) rows.push(['dropped', `header ${name}: ${why}`]);
  for (const { name, why } of backend.clientQuery) if (why) rows.push(['dropped', `parameter ${name}: ${why}`]);
  const shadow = backend.shadow ? ' (shadow: the response is discarded)' : '';
  return ['', `backend ${index}${shadow}  ${showPlace(backend)}`, ...alignColumns(rows).map((line) => `  ${line}`)];
}
