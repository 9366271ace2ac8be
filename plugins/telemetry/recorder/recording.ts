import {
  type ClientRequest,
  type DataObject,
  defineSlot,
  type EndpointConfig,
  type HeaderBag,
  type PipeRequest,
  type Reply,
  type Slot,
} from '#contract';
import { Exchange } from './exchange.ts';

/** Maximum number of backend calls in a recording. */
const MAX_CALLS = 100;

/** A backend call. */
export interface BackendCall {
  readonly exchange: Exchange;
  readonly endpoint: EndpointConfig;
  /** Position of the backend in its endpoint. */
  readonly index: number;
}

/** A sampled request in progress. */
export class Recording {
  readonly client: Exchange;
  readonly calls: BackendCall[] = [];
  /** The endpoint that serves the request; null if none does. */
  endpoint: EndpointConfig | null;
  /** Data of the response, which the endpoint's encoding prints. */
  data: DataObject | null = null;
  /** Number of backend calls that are not recorded. */
  omittedCalls = 0;
  readonly #maxBody: number;

  constructor(request: ClientRequest, maxBody: number) {
    const { method, path, search, host, secure, headers, body } = request;
    const url = `${secure ? 'https' : 'http'}://${host}${path}${search === '' ? '' : `?${search}`}`;
    this.client = new Exchange({ method, url, headers, body }, maxBody);
    this.endpoint = request.match();
    this.#maxBody = maxBody;
  }

  /**
   * Records the start of a backend call. Returns null for a call that is not recorded: calls without HTTP are counted, so
   * that the recording is known to be incomplete.
   */
  call(endpoint: EndpointConfig, index: number, request: PipeRequest): Exchange | null {
    const { method, origin, target, headers, body } = request;
    // A component without a server of its own, such as a workflow, is not recorded: the backends that it calls are.
    if (origin === '') return null;
    this.endpoint ??= endpoint;
    if (!origin.startsWith('http') || this.calls.length >= MAX_CALLS) {
      this.omittedCalls++;
      return null;
    }
    const exchange = new Exchange({ method, url: origin + target, headers, body }, this.#maxBody);
    this.calls.push({ exchange, endpoint, index });
    return exchange;
  }

  responded(reply: Reply): Reply {
    this.data = reply.data;
    return this.client.responded(reply);
  }

  /** Notes the head of the response as it is written. */
  answered(status: number, headers: HeaderBag): void {
    this.client.status = status;
    this.client.responseHeaders = headers.copy();
  }
}

/** The recording of a sampled request. */
export const recordingSlot: Slot<Recording> = defineSlot('recording');
