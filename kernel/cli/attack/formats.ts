import { escaped, quoted } from '../cases/junit.ts';
import { pathFromHere } from '../formats/format.ts';
import { annotation } from '../formats/github.ts';
import { counted, type PrintAttack } from './report.ts';
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

const junit: PrintAttack = ({ file, findings, withstood, ms }) => {
  const counts = `tests="${findings.length + 1}" failures="${findings.length}" errors="0" time="${(ms / 1000).toFixed(3)}"`;
  const cases = findings.flatMap(({ attack, endpoint, title, shown, requests, remedy }) => [
    `    <testcase name=${quoted(`${attack} ${endpoint}`)} classname=${quoted(file)}>`,
    `      <failure message=${quoted(title)}>${escaped([shown, ...requests, remedy].join('\n'))}</failure>`,
    '    </testcase>',
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="sluice" ${counts}>`,
    `  <testsuite name=${quoted(file)} ${counts}>`,
    ...cases,
    `    <testcase name=${quoted(`${counted(withstood, 'attack')} withstood`)} classname=${quoted(file)}/>`,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
};

/** The formats of `attack`, by name. */
export const attackFormats: ReadonlyMap<string, PrintAttack> = new Map(Object.entries({ text, json, junit, github }));
