import {
  after,
  type BackendSite,
  type Call,
  CallError,
  type Counter,
  type Data,
  type DataObject,
  getKey,
  isObject,
  type PipeRequest,
  parseExact,
  printJson,
  Reply,
  type Wrap,
} from '#contract';
import { type Fields, requestFields } from '../../engines/templates/fields.ts';
import { compileFile } from '../../engines/templates/renderer.ts';
import type { PayloadOptions } from './payload.ts';
import { type ReportUsage, tokensOf } from './usage.ts';
import type { Vendor } from './vendor.ts';

interface Answered {
  readonly request: PipeRequest;
  readonly reply: Reply;
}

/**
 * Fields available to templates. Status and headers of the response are not among them, because they are lost when the
 * body is decoded.
 */
const fields: Fields<Answered> = {
  ...requestFields,
  resp_body: ({ reply }) => reply.data,
  resp_body_str: () => '',
  resp_status: () => 0n,
  resp_headers: () => ({}),
  resp_completed: ({ reply }) => reply.complete === true,
};

export interface AnswerOptions extends Pick<PayloadOptions, 'vendor' | 'settings' | 'pointer' | 'show'> {
  /** Counts tokens; null if no metrics are collected. */
  readonly tokens: ((count: number) => void) | null;
  readonly reportUsage: ReportUsage;
}

/**
 * Converts the vendor's response to the unified format, or renders the output template. Keeps the data under the
 * backend's `group`, if one is set.
 */
export function unifyingAnswers(site: BackendSite<DataObject>, options: AnswerOptions): Wrap<PipeRequest> {
  const { vendor, settings, tokens, reportUsage, show } = options;
  const group = site.backend.group || null;
  const render = settings.output_template === undefined ? null : byTemplate(site, options);
  const change = (reply: Reply, request: PipeRequest, call: Call, data: DataObject): DataObject => {
    show('answer', () => printJson(data));
    const answer = vendor.read(data);
    if (answer.usage.total > 0) {
      tokens?.(answer.usage.total);
      reportUsage(call, tokensOf(answer.usage));
    }
    if (render) return render({ reply, request });
    if (!answer.candidates.some(({ texts }) => texts.length > 0))
      site.log.debug(
        () => `no text in the response; stop reason: ${JSON.stringify(answer.candidates[0]?.stop ?? null)}`,
      );
    return unified(answer);
  };
  return (next) =>
    after<PipeRequest>((reply, request, call) => {
      if (reply.errors.length > 0 || reply.skipped || reply.data === null) return;
      const data = group === null ? reply.data : getKey(reply.data, group);
      const inside = asObject(data ?? {});
      try {
        if (group !== null) reply.data = inside;
        const made = change(reply, request, call, inside);
        reply.data = group === null ? made : { [group]: made };
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        Object.assign(reply, Reply.failed(error));
      }
    })(next);
}

/** The response format for clients, which is the same for all vendors. */
function unified({ candidates, usage }: ReturnType<Vendor['read']>): DataObject {
  return { ai_gateway_response: candidates.map(({ texts }) => ({ contents: [...texts] })), usage: usage.total };
}

function byTemplate(
  site: BackendSite<DataObject>,
  { settings: { output_template: path, variables, debug }, pointer }: AnswerOptions,
): (answered: Answered) => DataObject {
  const file = { path: path!, pointer: `${pointer}/output_template`, variables, debug };
  const renderer = compileFile(site, file, fields);
  return (answered) => {
    const text = renderer.render(answered);
    try {
      return asObject(parseExact(text));
    } catch (cause) {
      throw new CallError(
        'TEMPLATE_OUTPUT',
        `the output of the template is not valid JSON: ${(cause as Error).message}`,
        {
          cause,
        },
      );
    }
  };
}

/** Wraps a value that is not an object: a list under `collection`, any other value under `content`. */
function asObject(value: Data): DataObject {
  if (isObject(value)) return value;
  return Array.isArray(value) ? { collection: value } : { content: value };
}

/** Returns a function that adds to the token counter, labeled with the vendor's name and the endpoint's path. */
export function countingTokens(counter: Counter, vendor: string, endpoint: string): (count: number) => void {
  const attributes = { vendor, endpoint };
  return (count) => counter.add(count, attributes);
}
