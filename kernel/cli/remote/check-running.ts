import type { Document, IsSecret, Issue } from '../../config/index.ts';
import type { Findings } from '../formats/index.ts';
import { byPosition } from '../report.ts';
import { type CheckedBody, configBody, type Problem } from './bodies.ts';
import { type AdminClient, type AdminResponse, isRefusal, Refused } from './client.ts';
import { readBody } from './show.ts';

/** What a running gateway finds in a file. */
export interface Checked {
  readonly findings: Findings;
  /** Mistakes that it found and did not tell. */
  readonly untold: number;
}

/**
 * Lets a running gateway look at a configuration file; the places of what it finds are those in the file here.
 * @param isReading also read the files that the configuration names.
 * @param isSecret which values are not shown.
 * @throws Unreachable; Refused for an answer that says nothing about the file.
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
    untold: errorsTruncated,
  };
}

function match(response: AdminResponse): Partial<CheckedBody & Problem> {
  const body = readBody<Partial<CheckedBody & Problem>>(response);
  const isAbout = isRefusal(response.status) ? Array.isArray(body?.errors) : body?.valid === true;
  if (!body || !isAbout) throw new Refused(response);
  return body;
}

/** An issue of a gateway, which does not know what the file that it was sent is called. */
export function placedIn(file: string, issue: Issue): Issue {
  const { related } = issue;
  return {
    ...issue,
    file,
    ...(related && { related: related.map((place) => ({ ...place, file })) }),
  };
}
