import { readFileSync } from 'node:fs'
import { ChainService } from '../../gen/aggregator/v1/chain_pb.js'
import { EventService } from '../../gen/aggregator/v1/event_pb.js'
import { OrderService } from '../../gen/aggregator/v1/order_pb.js'
import { QuoteService } from '../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../gen/aggregator/v1/solver_pb.js'
import { version } from '../../src/config/version.js'
import type { ExampleRun } from './example.js'

/** Where `scripts/capture-examples.ts` writes the examples. */
export const EXAMPLES_FILE = new URL('../../gen/examples.json', import.meta.url)

/** The examples that were captured last. */
export const examples: ExampleRun = JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8'))

/** What the documents describe, in addition to comments, constraints and reasons. */
export const contract = {
  version,
  /** The methods of the service, without the event stream. */
  methods: [QuoteService, SolverService, OrderService, ChainService].flatMap(({ methods }) => methods),
  stream: EventService.method.streamEvents,
  samples: examples.exchanges,
}

export type Contract = typeof contract
