import { counted } from '../formats/counted.ts';
import { pathFromHere } from '../formats/format.ts';
import { annotation } from '../formats/github.ts';
import { printJunit } from '../formats/junit-suite.ts';
import type { PrintAttack } from './report.ts';
import { text } from './text.ts';

/** One JSON object, for programs. */
const json: PrintAttack = ({ findings, ms, ...report }) =>
  `${JSON.stringify({ clean: findings.length === 0, findings, ...report, ms: Math.round(ms) })}\n`;

/** Annotations of GitHub workflows, one per line. */
const github: PrintAttack = ({ file, findings }) =>
  findings
    .map(({ severity, attack, title, pointer, line, column, shown, remedy, requests }) => {
      const words = [title, shown, ...requests].join('\n');
      const level = severity === 'LOW' || severity === 'MEDIUM' ? 'warning' : 'error';
      const issue = {
        severity: level,
        code: attack,
        namespace: 'core',
        pointer,
        message: words,
        hint: remedy,
      } as const;
      const place = { ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
      return annotation(pathFromHere(file) ?? file, { ...issue, ...place });
    })
    .join('');

const junit: PrintAttack = ({ file, findings, withstood, ms }) =>
  printJunit({
    file,
    failed: findings.map(({ attack, endpoint, title, shown, requests, remedy }) => ({
      name: `${attack} ${endpoint}`,
      failures: [{ message: title, details: [shown, ...requests, remedy].join('\n') }],
    })),
    passed: `${counted(withstood, 'attack')} withstood`,
    ms,
  });

/** The formats of `attack`, by name. */
export const attackFormats: ReadonlyMap<string, PrintAttack> = new Map(Object.entries({ text, json, junit, github }));
