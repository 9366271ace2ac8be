import type { AttackCatalogue } from '#contract';
import { code, plain, table } from './markdown.ts';

/** The page of all attacks of `sluice attack`, made from their own descriptions. */
export function attacksPage({ attacks }: AttackCatalogue): string {
  const rows = attacks.map(({ name, severity, title }) => [
    `[${name}](#${name})`,
    severity.toLowerCase(),
    plain(title),
  ]);
  const segments = [
    '# Attacks',
    'The attacks of `sluice attack`. They run against the whole gateway in a sandbox; a finding is shown by what a backend or a client received. Each attack runs at every endpoint that it applies to, unless it says otherwise.',
    table(['Attack', 'Severity', 'Weakness'], rows),
    ...attacks.flatMap(({ name, title, severity, description, once, isolated }) => [
      `## ${name}`,
      `${plain(title)}.`,
      plain(description),
      [
        `Severity: ${code(severity.toLowerCase())}.`,
        ...(once ? ['Runs once for a configuration, at the first endpoint that it applies to.'] : []),
        ...(isolated ? ['Each run has a gateway of its own.'] : []),
      ].join(' '),
    ]),
  ];
  return `${segments.join('\n\n')}\n`;
}
