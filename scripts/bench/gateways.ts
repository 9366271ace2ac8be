import { createGateway } from '../../kernel/sluice.ts';
import './probe.ts';

/**
 * Runs several gateways in one process for comparison, so that garbage collection and compilation affect all of them
 * equally. Arguments: their configuration files.
 */
for (const file of process.argv.slice(2)) await (await createGateway(file)).listen();
process.once('disconnect', () => process.exit());
