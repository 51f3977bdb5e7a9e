import type { AggregatorClient } from '@quote-aggregator/client'

/** The options of each call: it ends with the command. */
export type Calling = { readonly signal: AbortSignal }

/** Calls the instance of a command. @throws CommandFailure with what to do, in place of the client's errors */
export type CallInstance = <T>(work: (client: AggregatorClient, calling: Calling) => Promise<T>) => Promise<T>
