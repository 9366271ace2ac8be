import { createHash } from 'node:crypto';
import { type Cause, causes, type GroupedChange } from '../../cases/index.ts';
import { counted } from '../formats/counted.ts';
import { printable } from '../formats/excerpt.ts';
import { showPlace } from '../formats/report.ts';
import { escaped } from '../formats/xml.ts';
import type { ReplayReport } from './replay-formats.ts';

const style = `
:root { color-scheme: light dark; --text: #1c2024; --muted: #575e66; --page: #fff; --card: #f5f6f8; --line: #c9ced4; --mark: #9a2a12; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8eaed; --muted: #b0b7bf; --page: #15181b; --card: #1f2429; --line: #444b53; --mark: #ff9d85; }
}
body { margin: 0 auto; max-width: 64rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; overflow-wrap: anywhere; } h3 { font-size: 1rem; color: var(--mark); margin: 1rem 0 0.25rem; }
section { border: 1px solid var(--line); border-radius: 0.5rem; background: var(--card); margin: 1rem 0; padding: 0 1rem 1rem; }
code { font: 0.9em ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
p, ul { margin: 0.25rem 0; } .muted { color: var(--muted); }
a { color: inherit; }
`;

/** Content security policy of the page: its own style, and nothing else. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/** Text of clients and backends in HTML: without markup, and in a direction of its own. */
function quote(text: string): string {
  return `<code dir="auto">${clean(text)}</code>`;
}

/** Escapes text for HTML, without characters that control it or change its direction. */
function clean(text: string): string {
  return escaped(printable(text));
}

/** Prints a replay as one HTML page, which loads nothing and contains no scripts. */
export function replayPage(report: ReplayReport): string {
  const { file, changes, hidden, accepted, requests, incomplete, unfaithful } = report;
  const endpoints = [...Map.groupBy(changes, ({ endpoint }) => endpoint)];
  const notes = [
    hidden > 0 ? `${counted(hidden, 'further difference')} not listed` : '',
    accepted.length > 0 ? `${counted(accepted.length, 'difference')} accepted` : '',
    incomplete > 0 ? `${counted(incomplete, 'request')} not replayed: the recording is incomplete` : '',
    unfaithful > 0
      ? `${counted(unfaithful, 'request')} got a status other than the recorded one from the baseline`
      : '',
  ];
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    '<title>Replay of recorded requests</title>',
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<main>',
    '<h1>Replay of recorded requests</h1>',
    `<p>${quote(file)}: ${counted(requests, 'request')}, ${counted(changes.length + hidden, 'difference')}</p>`,
    ...notes.filter((note) => note !== '').map((note) => `<p class="muted">${note}</p>`),
    ...contents(endpoints.map(([endpoint, all]) => [endpoint, all.length])),
    ...endpoints.flatMap(([endpoint, all], index) => sectionOf(endpoint, all, index)),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function contents(endpoints: readonly (readonly [endpoint: string, differences: number])[]): string[] {
  if (endpoints.length < 2) return [];
  const items = endpoints.map(
    ([endpoint, differences], index) =>
      `<li><a href="#endpoint-${index}">${quote(endpoint)}</a>: ${counted(differences, 'difference')}</li>`,
  );
  return ['<nav aria-label="Endpoints">', '<ul>', ...items, '</ul>', '</nav>'];
}

function sectionOf(endpoint: string, changes: readonly GroupedChange[], index: number): string[] {
  const byCause = Map.groupBy(changes, ({ cause }) => cause);
  const order = Object.keys(causes) as Cause[];
  return [
    `<section id="endpoint-${index}" aria-labelledby="name-${index}">`,
    `<h2 id="name-${index}">${quote(endpoint)}</h2>`,
    ...order
      .filter((cause) => byCause.has(cause))
      .flatMap((cause) => [`<h3>${causes[cause]}</h3>`, '<ul>', ...byCause.get(cause)!.map(itemOf), '</ul>']),
    '</section>',
  ];
}

function itemOf({ at, shown, requests, example, settings, key }: GroupedChange): string {
  const parts = [at, shown].filter((part) => part !== '').map(quote);
  const reasons = settings.map(({ text, ...place }) => {
    const where = place.line === undefined ? '' : ` <span class="muted">${clean(showPlace(place))}</span>`;
    return `<li>${quote(text)}${where}</li>`;
  });
  return [
    `<li><p>${parts.join(' ')}</p>`,
    `<p class="muted">${counted(requests, 'request')}, for example ${quote(example)}</p>`,
    ...(reasons.length > 0 ? ['<p>Changed settings:</p>', '<ul>', ...reasons, '</ul>'] : []),
    `<p class="muted">accept: ${quote(key)}</p></li>`,
  ].join('\n');
}
