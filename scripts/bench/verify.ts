import { deepStrictEqual } from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'undici';
import type { LoadReport } from './load.ts';
import { bodyOf } from './payloads.ts';
import type { Scenario } from './scenario.ts';

const SAMPLES = 3;
const PATIENCE_MS = 5000;

/**
 * Sends a few requests and compares each response in full.
 * @returns length of the body in bytes.
 * @throws Error that describes the difference.
 */
export async function verifySample(
  origin: string,
  scenario: Scenario,
  sent: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { status = 200, echoes } = scenario;
  const body = echoes === undefined ? null : bodyOf(echoes);
  let length = 0;
  for (let count = 0; count < SAMPLES; count += 1) {
    const options = { headers: sent, body, reset: true, signal: AbortSignal.timeout(PATIENCE_MS) };
    const answer = await request(origin + scenario.path, { method: body ? 'POST' : 'GET', ...options });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    length = bytes.length;
    if (answer.statusCode !== status) {
      throw new Error(`status ${answer.statusCode} instead of ${status}: ${bytes.toString('utf8', 0, 200)}`);
    }
    if (body && !body.equals(bytes)) throw new Error(`another body of ${length} bytes came back`);
    if (!body && status === 200) verifyJson(scenario, answer.headers, bytes.toString());
  }
  return length;
}

function verifyJson(scenario: Scenario, headers: IncomingHttpHeaders, text: string): void {
  const type = String(headers['content-type']);
  if (!type.startsWith('application/json')) throw new Error(`Content-Type is ${type} instead of JSON`);
  if (scenario.untouched && headers['etag'] !== '"fixed"') throw new Error('a header of the upstream is missing');
  if (scenario.untouched && text !== JSON.stringify(scenario.expected)) throw new Error(wrongBody(text));
  try {
    deepStrictEqual(JSON.parse(text), scenario.expected);
  } catch {
    throw new Error(wrongBody(text));
  }
}

function wrongBody(text: string): string {
  return `wrong body: ${text.length > 200 ? text.slice(0, 200) + '…' : text}`;
}

/**
 * Checks the responses under load: none was wrong, and all bytes arrived.
 * @param bodyBytes length of one correct response.
 * @throws Error that describes the failure.
 */
export function verifyLoad(report: LoadReport, bodyBytes: number): void {
  if (report.requests === 0) throw new Error(`no request was answered: ${report.firstWrong}`);
  if (report.wrong > 0) throw new Error(`${report.wrong} wrong responses under load: ${report.firstWrong}`);
  // wrk rounds the number of bytes read to three digits.
  const mean = report.bodyBytes / report.requests;
  if (mean < bodyBytes * 0.99) throw new Error(`responses under load have ${Math.round(mean)} bytes, not ${bodyBytes}`);
}
