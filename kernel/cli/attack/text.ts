import type { Severity } from '#contract';
import { counted } from '../formats/counted.ts';
import { printable } from '../formats/excerpt.ts';
import { showPlace } from '../formats/report.ts';
import { isColoured } from '../terminal.ts';
import type { PlacedFinding, PrintAttack } from './report.ts';

const colours: Readonly<Record<Severity, string>> = { LOW: '32', MEDIUM: '33', HIGH: '31', CRITICAL: '41' };

/** Prints findings for people: a paragraph each, and a summary. */
export const text: PrintAttack = (report, terminal) => {
  const isOn = isColoured(terminal.stdout, terminal);
  const { findings, accepted, unreached, unfinished, withstood, attacks, endpoints, requests, seed, ms } = report;
  const lines = findings.flatMap((finding) => [...paragraph(finding, isOn), '']);
  for (const { endpoint, reason } of unreached) {
    lines.push(`not reached: ${endpoint} accepted no generated request (${reason})`);
  }
  if (accepted.length > 0) lines.push(`${counted(accepted.length, 'finding')} accepted`);
  if (unfinished > 0) lines.push(`${counted(unfinished, 'attack')} not run: the time is over`);
  lines.push(
    `${counted(attacks, 'attack')} on ${counted(endpoints, 'endpoint')}: ${counted(findings.length, 'finding')}, ${withstood} withstood`,
    `${counted(requests, 'request')} in ${Math.round(ms)} ms, seed ${seed}`,
  );
  return `${lines.map((line) => printable(line)).join('\n')}\n`;
};

function paragraph(finding: PlacedFinding, isOn: boolean): string[] {
  const { severity, attack, title, endpoint, others, shown, remedy, requests, key } = finding;
  const label = isOn ? `\x1b[${colours[severity]}m${severity}\x1b[0m` : severity;
  const more = others > 0 ? ` and ${counted(others, 'other endpoint')}` : '';
  return [
    `${showPlace(finding)}: ${label} ${title} [${attack}]`,
    `    endpoint: ${endpoint}${more}`,
    `    ${shown}`,
    ...requests.map((request) => `    $ ${request}`),
    `    hint: ${remedy}`,
    `    accept: ${key}  # reason`,
  ];
}
