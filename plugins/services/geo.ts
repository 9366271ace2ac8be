import { type DataObject, definePort, type Port } from '#contract';

/**
 * Where an address is, as the City database has it: all members are there, empty where nothing is known. Frozen, and shared
 * by all who ask.
 */
export type LocateAddress = (address: string) => Readonly<DataObject>;

/** Whoever has a database of addresses offers it here. */
export const geoLocations: Port<LocateAddress> = definePort('geo locations');
