import { deepEqual, equal, match } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { sluice } from '../kernel/cli/command.ts';
import { startBackend, startGateway } from '../support/gateway.ts';

const response = `<soap:Envelope xmlns:soap="s"><soap:Body><m:CapitalCityResponse xmlns:m="u"><m:CapitalCityResult>Madrid</m:CapitalCityResult></m:CapitalCityResponse></soap:Body></soap:Envelope>`;

describe('the sample "soap"', () => {
  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-t', '-c', 'samples/soap/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it("sends a SOAP envelope, and returns the content of the response's envelope", async () => {
    const backend = await startBackend((_seen, reply) =>
      reply.writeHead(200, { 'Content-Type': 'text/xml' }).end(response),
    );
    const config = JSON.parse(readFileSync('samples/soap/gateway.json', 'utf8'));
    const gateway = await startGateway({ ...config, host: [backend.url] });
    try {
      equal((await gateway.inject('/capital-of/ES')).body, '{"capital":"Madrid"}');
      match(String(backend.requests[0]!.body), /<sCountryISOCode>ES<\/sCountryISOCode>/);
    } finally {
      await gateway.close();
      await backend.close();
    }
  });
});
