import { code, table } from '../markdown.ts';
import { gatewayLines } from './gateway.ts';
import type { LogAreas } from './log-line.ts';
import { trafficLines } from './traffic.ts';

/** Log lines that an operator meets, by area. */
export const logLines: LogAreas = { ...gatewayLines, ...trafficLines };

/** The page of the log lines that matter. */
export function logLinesPage(): string {
  const segments = [
    '# Log lines',
    [
      'Lines of the application log that matter to operators. `…` marks the variable parts. ERROR and CRITICAL need a person, WARNING',
      'may need one, INFO is a change of state. Lines with an error code are explained on the page of [error codes](errors.md).',
    ].join('\n'),
    ...Object.entries(logLines).flatMap(([area, lines]) => [
      `## ${area}`,
      table(
        ['Level', 'Line', 'Cause', 'What to do'],
        lines.map(({ level, text, cause, remedy }) => [level, code(text), cause, remedy]),
      ),
    ]),
  ];
  return `${segments.join('\n\n')}\n`;
}
