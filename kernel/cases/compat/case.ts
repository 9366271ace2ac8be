import type { Mock } from '../mock.ts';
import type { TestRequest } from '../test.ts';

/** A request to both gateways, with the responses of the mocked backends. */
export interface CompatCase {
  /** Endpoint, for example `GET /users/{id}`; method and path for a request without an endpoint. */
  readonly endpoint: string;
  /** Description, for example `backend responds with 500`. */
  readonly name: string;
  readonly request: TestRequest;
  readonly mocks: readonly Mock[];
}
