import { openStage } from './stage.ts';

/** A request to the endpoint of a driver. */
export interface DrivenRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of a POST request. Default: a GET request. */
  readonly payload?: string;
  /** Whether a body with the status 200 is that of a served request. Default: always. */
  isServed?(body: string): boolean;
}

/** A gateway with one endpoint, `/a`, that depends on a server. @param root fields of the configuration in addition to it. */
export async function driveGateway(
  endpoint: object,
  { headers = {}, payload, isServed = () => true }: DrivenRequest = {},
  root: object = {},
) {
  const method = payload === undefined ? 'GET' : 'POST';
  const stage = await openStage({ timeout: '300ms', ...root, endpoints: [{ endpoint: '/a', method, ...endpoint }] });
  return {
    async ask() {
      const request = {
        method,
        url: '/a',
        headers: { ...headers },
        ...(payload !== undefined && { payload }),
      } as const;
      const { statusCode, body } = await stage.gateway.inject(request);
      return statusCode === 200 && isServed(body);
    },
    async close() {
      await stage.settled();
      await stage.gateway.close();
    },
  };
}
