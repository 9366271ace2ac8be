import type { Catalogue, ListenAddress } from '#contract';
import type { ShadowFindings } from '../../control/shadow-report.ts';
import { ConfigText } from '../../control/snapshot.ts';
import { endpointId } from '../../runtime/prints/endpoint-prints.ts';
import { type OpenSandbox, openSandbox } from '../../sandbox/open-sandbox.ts';
import { within } from '../../sandbox/session.ts';
import type { Sample } from '../../server/exchange/sample.ts';
import type { SentConfiguration } from '../rehearsal/sent-configuration.ts';
import { MAX_NAME, withoutValues } from '../rehearsal/without-values.ts';
import { type Change, changesOf } from '../replay/compare.ts';
import { addChanges, type GroupedChange, type Mutable } from '../replay/replay.ts';
import { settingsBehind } from '../replay/settings.ts';
import { CpuBudget, type CpuSource, ownCpu } from './cpu-budget.ts';
import { repeatRequest, responseOf } from './repeat-request.ts';
import { Refusals, ShadowSession } from './shadow-session.ts';

/** A configuration with the values of its references to secrets. */
export interface ShadowConfiguration extends SentConfiguration {
  readonly secrets: readonly (readonly [id: string, value: string])[];
}

/** Input of a shadow run. */
export interface ShadowOrder {
  readonly next: ShadowConfiguration;
  readonly baseline: ShadowConfiguration;
  readonly pluginFolder: string | null;
  /** Addresses of the gateway itself: its admin port, and its own port, whose requests would be copied in turn. */
  readonly denied: readonly ListenAddress[];
  /** Whether requests with methods other than GET and HEAD are sent to backends. */
  readonly sendsAnyMethod: boolean;
}

/** Treatment of a sample. */
export type SampleOutcome = 'compared' | 'budget' | 'unsuitable' | 'limited';

/** Maximum number of differences in the findings. */
const MAX_CHANGES = 200;

/** Maximum size of a response whose body is compared, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Endpoint of requests that reach none in either configuration. */
const NO_ENDPOINT = 'no endpoint';

type Counts = Mutable<Pick<ShadowFindings, 'compared' | 'different' | 'unstable' | 'refused' | 'hidden'>>;

const noCalls: ReadonlyMap<string, number> = new Map();

/**
 * A configuration that receives copies of requests, and a copy of the serving one: a difference counts only if the
 * candidate shows it twice, and the serving configuration does not show it when it receives the request again.
 */
export class Candidate {
  readonly #next: OpenSandbox;
  readonly #baseline: OpenSandbox;
  readonly #order: ShadowOrder;
  readonly #refusals: Refusals;
  readonly #budget: CpuBudget;
  readonly #cpu: CpuSource;
  readonly #groups = new Map<string, Mutable<GroupedChange>>();
  readonly #counts: Counts = { compared: 0, different: 0, unstable: 0, refused: 0, hidden: 0 };
  /** Finds the settings behind a difference; null before the first difference. */
  #settings: ReturnType<typeof settingsBehind> | null = null;

  private constructor(
    { next, baseline }: { readonly next: OpenSandbox; readonly baseline: OpenSandbox },
    order: ShadowOrder,
    refusals: Refusals,
    cpu: CpuSource,
  ) {
    this.#next = next;
    this.#baseline = baseline;
    this.#order = order;
    this.#refusals = refusals;
    this.#cpu = cpu;
    this.#budget = new CpuBudget(cpu);
  }

  /** Builds both configurations. @throws ConfigErrors if one of them cannot be built. */
  static async open(catalogue: Catalogue, order: ShadowOrder, cpu: CpuSource = ownCpu): Promise<Candidate> {
    const refusals = new Refusals();
    const open = ({ text, format, secrets }: ShadowConfiguration): Promise<OpenSandbox> =>
      openSandbox(catalogue, new ConfigText(text, format), new ShadowSession(refusals, order.sendsAnyMethod), {
        network: 'http',
        denied: order.denied,
        secrets: new Map(secrets),
        ...(order.pluginFolder !== null && { pluginFolder: order.pluginFolder }),
      });
    const baseline = await open(order.baseline);
    try {
      return new Candidate({ next: await open(order.next), baseline }, order, refusals, cpu);
    } catch (error) {
      await baseline.close();
      throw error;
    }
  }

  /** Repeats the request of a sample and compares the responses. */
  async take({ request, response }: Sample): Promise<SampleOutcome> {
    // Limits count requests: the candidate gets a fraction of them.
    if (response.status === 429) return 'limited';
    const endpoint = this.#endpointOf(request);
    if (endpoint === null) return 'unsuitable';
    const finished = this.#budget.admit();
    if (!finished) return 'budget';
    try {
      await this.#compare(endpoint, request, response);
      this.#counts.compared++;
      return 'compared';
    } catch {
      // A response that cannot be compared must not end the run.
      return 'unsuitable';
    } finally {
      finished();
    }
  }

  get findings(): ShadowFindings {
    const changes = [...this.#groups.values()];
    const { hidden, ...counts } = this.#counts;
    return {
      ...counts,
      refusals: this.#refusals.list,
      changes: changes.map(withoutValues),
      hidden,
      cpuMs: Math.round(this.#cpu.cpuMs()),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#next.close(), this.#baseline.close()]);
  }

  async #compare(endpoint: string, request: Sample['request'], sent: Sample['response']): Promise<void> {
    const served = await responseOf(sent);
    const limitBytes = served.body === null ? 0 : MAX_BODY_BYTES;
    const repeat = (sandbox: OpenSandbox, session: ShadowSession) =>
      repeatRequest(sandbox, session, request, limitBytes);
    const differences = async (sandbox: OpenSandbox, session: ShadowSession): Promise<Change[]> => {
      const response = await repeat(sandbox, session);
      return changesOf({ response: served, calls: noCalls }, { response, calls: noCalls });
    };
    const [session, control] = [this.#session(), this.#session()];
    const found = await differences(this.#next, session);
    if (found.length === 0) return;
    // Values such as times and generated IDs differ from one request to the next in any configuration. A failure may
    // occur once, for example because this process gets little processor time.
    const natural = new Set((await differences(this.#baseline, control)).map(keyOf));
    const again = new Set((await differences(this.#next, this.#session())).map(keyOf));
    const changes = found.filter((change) => !natural.has(keyOf(change)) && again.has(keyOf(change)));
    const refused = session.own.list;
    // A call that is refused for both configurations has the same effect on both.
    const isJudged = refused.every((refusal) => control.own.list.includes(refusal));
    if (!isJudged || (changes.length === 0 && refused.length > 0)) {
      this.#counts.refused++;
      return;
    }
    if (changes.length === 0) {
      this.#counts.unstable++;
      return;
    }
    this.#counts.different++;
    await this.#add(endpoint, changes);
  }

  /** Adds differences to their groups, which keep no values. */
  async #add(endpoint: string, changes: readonly Change[]): Promise<void> {
    this.#settings ??= within(this.#session(), () => settingsBehind(this.#baseline.gateway, this.#next.gateway));
    const settingsOf = await this.#settings.catch(() => () => []);
    const plain = changes.map(({ cause, at }) => ({ cause, at: at.slice(0, MAX_NAME), shown: '' }));
    const request = { method: '', path: '', headers: {}, body: null };
    const known = this.#groups.size;
    this.#counts.hidden += addChanges(this.#groups, { endpoint, request }, plain, MAX_CHANGES);
    for (const group of [...this.#groups.values()].slice(known)) group.settings = settingsOf(endpoint, group.cause);
  }

  /** The endpoint of a request; null for a path that a component or the gateway itself serves. */
  #endpointOf({ method, url, headers }: Sample['request']): string | null {
    const path = url.replace(/^\w+:\/\/[^/?#]*/, '').replace(/[?#].*$/s, '');
    const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
    const host = at < 0 ? '' : headers[at + 1]!;
    const found = [this.#baseline, this.#next].map(({ gateway }) =>
      gateway.serving.destinations.find(method, path, host),
    );
    if (found.some(({ kind }) => kind === 'own')) return null;
    const route = found.find((destination) => destination.kind === 'route');
    return route?.kind === 'route' ? endpointId(route.route.endpoint) : NO_ENDPOINT;
  }

  #session(): ShadowSession {
    return new ShadowSession(this.#refusals, this.#order.sendsAnyMethod);
  }
}

function keyOf({ cause, at }: Change): string {
  return `${cause} ${at}`;
}
