import type { Phase } from '../../kernel/contract/catalogue.ts';
import type { Registry } from '../../kernel/registry/registry.ts';
import { link, plain, table } from './markdown.ts';

/** The work that each phase of a request wraps. */
const meanings: Readonly<Record<Phase, string>> = {
  middleware: 'Koa middleware around the whole request and its response.',
  request: 'The request of the client as received, before its endpoint is known.',
  endpoint: 'The request of the client at its endpoint, and the response as sent.',
  proxy: 'The request with only the headers and parameters that the endpoint forwards, and the merged response.',
  backend: 'The request to one backend, and its decoded response.',
  transport: 'The HTTP request to one backend, and its raw response.',
};

const picture = `client
  │
  ▼
┌─ middleware ───────────────────────────────────────────────────┐
│ ┌─ request ──────────────────────────────────────────────────┐ │
│ │  router: which endpoint?                                   │ │
│ │ ┌─ endpoint ─────────────────────────────────────────────┐ │ │
│ │ │ ┌─ proxy ────────────────────────────────────────────┐ │ │ │
│ │ │ │  merge                                             │ │ │ │
│ │ │ │ ┌─ backend ──────────────┐ ┌─ backend ───────────┐ │ │ │ │
│ │ │ │ │  decode, filter        │ │  decode, filter     │ │ │ │ │
│ │ │ │ │ ┌─ transport ────────┐ │ │ ┌─ transport ─────┐ │ │ │ │ │
│ │ │ │ │ │  HTTP request      │ │ │ │  HTTP request   │ │ │ │ │ │
└─┴─┴─┴─┴─┴────────────────────┴─┴─┴─┴─────────────────┴─┴─┴─┴─┴─┘`;

/** The phases with the components of the registry, outermost first. */
export function phasesOf({ catalogue: { order }, namespaces }: Registry): { phase: Phase; names: string[] }[] {
  return Object.entries(order).map(([phase, names]) => ({
    phase: phase as Phase,
    names: names.filter((name) => namespaces.includes(name)),
  }));
}

/** The page of the order in which components run. */
export function orderPage(registry: Registry): string {
  const phases = phasesOf(registry).flatMap(({ phase, names }) => {
    const rows = names.map((name, at) => [
      String(at + 1),
      link(name, `${name}.md`, 'order.md'),
      plain(registry.plugin(name)!.description),
    ]);
    return [`## ${phase}`, meanings[phase], table(['', 'Component', 'What it does'], rows)];
  });
  const segments = [
    '# Run order',
    `Components run in a fixed order, whatever their order in the configuration. A request passes the phases from the outside to
the inside, and its response from the inside to the outside: the outermost component sees the request first and the response
last.`,
    `\`\`\`text\n${picture}\n\`\`\``,
    ...phases,
  ];
  return `${segments.join('\n\n')}\n`;
}
