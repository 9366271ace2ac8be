import { openStage } from './stage.ts';

/** A gateway with one endpoint that depends on a server. @param root fields of the configuration in addition to it. */
export async function driveGateway(endpoint: object, headers: Record<string, string> = {}, root: object = {}) {
  const stage = await openStage({ timeout: '300ms', ...root, endpoints: [{ endpoint: '/a', ...endpoint }] });
  return {
    async ask() {
      const { statusCode } = await stage.gateway.inject({ method: 'GET', url: '/a', headers });
      return statusCode === 200;
    },
    async close() {
      await stage.settled();
      await stage.gateway.close();
    },
  };
}
