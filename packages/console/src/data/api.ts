import { createClient, type Interceptor } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-web'
import { ChainService } from '../../../../gen/aggregator/v1/chain_pb.js'
import { EventService } from '../../../../gen/aggregator/v1/event_pb.js'
import { OrderService } from '../../../../gen/aggregator/v1/order_pb.js'
import { QuoteService } from '../../../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../../../gen/aggregator/v1/solver_pb.js'
import { noteInstanceTime } from './instance-time.js'

/** Where the service is: the folder of the page, also below a prefix that a proxy adds. */
export const BASE_URL = new URL('.', document.baseURI).href

const noteTime: Interceptor = (next) => async (request) => {
  const answer = await next(request)
  noteInstanceTime(answer.header.get('date'))
  return answer
}

const transport = createConnectTransport({
  baseUrl: BASE_URL.replace(/\/$/, ''),
  useBinaryFormat: true,
  interceptors: [noteTime],
})

export const chainService = createClient(ChainService, transport)
export const eventService = createClient(EventService, transport)
export const orderService = createClient(OrderService, transport)
export const quoteService = createClient(QuoteService, transport)
export const solverService = createClient(SolverService, transport)
