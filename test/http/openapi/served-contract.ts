import { ChainService } from '../../../gen/aggregator/v1/chain_pb.js'
import { EventService } from '../../../gen/aggregator/v1/event_pb.js'
import { OrderService } from '../../../gen/aggregator/v1/order_pb.js'
import { QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import { exchanges } from '../../../src/http/openapi/examples.js'
import type { Contract } from '../../../src/http/openapi/openapi.js'

/** The contract of the service, from the protos. */
export const contract: Contract = {
  version: '1.2.3',
  methods: [QuoteService, SolverService, OrderService, ChainService].flatMap((service) => service.methods),
  stream: EventService.method.streamEvents,
  samples: exchanges,
  hasMetricsAuth: true,
}
