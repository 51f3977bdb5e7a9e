import { readFileSync } from 'node:fs'
import { ChainService } from '../../gen/aggregator/v1/chain_pb.js'
import { EventService } from '../../gen/aggregator/v1/event_pb.js'
import { OrderService } from '../../gen/aggregator/v1/order_pb.js'
import { QuoteService } from '../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../gen/aggregator/v1/solver_pb.js'
import { version } from '../../src/version.js'
import type { ExampleRun } from './example.js'
import type { Contract } from './openapi.js'

/** Where `scripts/capture-examples.ts` writes the examples. */
export const EXAMPLES_FILE = new URL('../../gen/examples.json', import.meta.url)

/** The examples that were captured last. */
export const examples: ExampleRun = JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8'))

/** What the documents describe: the methods of the protos, in the version of the package. */
export const contract: Contract = {
  version,
  methods: [QuoteService, SolverService, OrderService, ChainService].flatMap(({ methods }) => methods),
  stream: EventService.method.streamEvents,
  samples: examples.exchanges,
}
