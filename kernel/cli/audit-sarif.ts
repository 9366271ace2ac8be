import type { Severity } from '#contract';
import type { AuditReport, Place } from '../inspect/index.ts';
import { version } from '../version.ts';

const levels: Readonly<Record<Severity, string>> = { CRITICAL: 'error', HIGH: 'error', MEDIUM: 'warning', LOW: 'note' };

/** An audit as a SARIF 2.1.0 log, for code reviews: one result for each place. */
export function toSarif({ recommendations }: AuditReport): object {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'sluice audit',
            version,
            rules: recommendations.map(({ rule, severity, message, note }) => ({
              id: rule,
              shortDescription: { text: message },
              defaultConfiguration: { level: levelOf(severity, note) },
              properties: { severity },
            })),
          },
        },
        results: recommendations.flatMap(({ rule, severity, message, note, instances }) =>
          instances.map((place) => ({
            ruleId: rule,
            level: levelOf(severity, note),
            message: { text: message },
            locations: [locate(place)],
          })),
        ),
      },
    ],
  };
}

function levelOf(severity: Severity, note: boolean): string {
  return note ? 'note' : levels[severity];
}

function locate({ file, line, column, pointer }: Place): object {
  return {
    ...(file !== undefined && {
      physicalLocation: {
        artifactLocation: { uri: encodeURI(file.replaceAll('\\', '/')) },
        ...(line !== undefined && { region: { startLine: line, startColumn: column } }),
      },
    }),
    logicalLocations: [{ fullyQualifiedName: pointer, kind: 'member' }],
  };
}
