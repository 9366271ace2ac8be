import type { Severity } from '#contract';
import type { AuditReport } from '../../inspect/index.ts';
import { printSarif, sarifLocation } from '../formats/sarif.ts';

const levels: Readonly<Record<Severity, string>> = { CRITICAL: 'error', HIGH: 'error', MEDIUM: 'warning', LOW: 'note' };

/** Formats an audit as a SARIF log: one result per location. */
export function auditAsSarif({ recommendations }: AuditReport): string {
  return printSarif({
    tool: 'sluice audit',
    rules: recommendations.map(({ rule, severity, message, note }) => ({
      id: rule,
      shortDescription: { text: message },
      defaultConfiguration: { level: levelOf(severity, note) },
      properties: { severity },
    })),
    results: recommendations.flatMap(({ rule, severity, message, note, instances }) =>
      instances.map((position) => ({
        ruleId: rule,
        level: levelOf(severity, note),
        message: { text: message },
        locations: [sarifLocation(position)],
      })),
    ),
  });
}

function levelOf(severity: Severity, note: boolean): string {
  return note ? 'note' : levels[severity];
}
