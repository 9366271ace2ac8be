import type { Document, IsSecret, Issue } from '../../config/index.ts';
import type { Findings } from '../formats/index.ts';
import { byPosition } from '../formats/report.ts';
import { type CheckedBody, configBody, type Problem } from './bodies.ts';
import { type AdminClient, type AdminResponse, isRefusal, Refused } from './client.ts';
import { readBody } from './show.ts';

/** Findings of a running gateway in a file. */
export interface Checked {
  readonly findings: Findings;
  /** Number of errors that the response omitted. */
  readonly unreported: number;
}

/**
 * Makes a running gateway check a configuration file; positions refer to the local file.
 * @param isReading whether to also read the files that the configuration refers to.
 * @param isSecret decides which values are masked.
 * @throws Unreachable; Refused for a response that is not about the file.
 */
export async function checkWithRunning(
  client: AdminClient,
  document: Document,
  isReading: boolean,
  isSecret: IsSecret,
): Promise<Checked> {
  const { file, text } = document;
  const query = { level: isReading ? 'full' : 'schema' };
  const response = await client.ask({ method: 'POST', path: '/v1/check', query, ...configBody(file, text) });
  const { errors = [], warnings = [], errorsTruncated = 0 } = match(response);
  const placed = (issues: readonly Issue[]) => issues.map((issue) => placedIn(file, issue)).sort(byPosition);
  return {
    findings: { file, text, document, errors: placed(errors), warnings: placed(warnings), isSecret },
    unreported: errorsTruncated,
  };
}

function match(response: AdminResponse): Partial<CheckedBody & Problem> {
  const body = readBody<Partial<CheckedBody & Problem>>(response);
  const isAbout = isRefusal(response.status) ? Array.isArray(body?.errors) : body?.valid === true;
  if (!body || !isAbout) throw new Refused(response);
  return body;
}

/** Adds the file name to an issue from a gateway, which does not know the name of the file that it was sent. */
export function placedIn(file: string, issue: Issue): Issue {
  const { related } = issue;
  return {
    ...issue,
    file,
    ...(related && { related: related.map((place) => ({ ...place, file })) }),
  };
}
