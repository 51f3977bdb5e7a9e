import type { IncomingHttpHeaders } from 'node:http'
import { pino } from 'pino'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, startSolver, type WireQuote } from '../../support/solvers/solver.js'

/** The clock of the service stands still, later than every block: deadlines count from the later one. */
export const NOW_MS = Date.now() + 120_000
/** The user of requests for prices. */
export const NO_USER = '0x000000000000000000000000000000000000dEaD'

const TEMPTING = '999999999999'

/** Replies with the most output, and with these changes before the signature. */
export function signedOver(changes: Partial<WireQuote>): Behaviour {
  return async (asked, { quoteFor, sign }) => sign({ ...quoteFor(asked), outputAmount: TEMPTING, ...changes })
}

/** @returns the behaviour, and the headers of the last request that came */
export function noteHeaders(behaviour: Behaviour) {
  const noted: { headers: IncomingHttpHeaders } = { headers: {} }
  const noting: Behaviour = async (...exchange) => {
    noted.headers = exchange[2].request.headers
    return behaviour(...exchange)
  }
  return { noted, noting }
}

/**
 * A service that keeps prices for a minute, with two solvers: Ada gives the most output, and Bob takes the
 * least input.
 */
export async function startPriceFixture() {
  const chain = await startModelChain({ bonded: 2 })
  const logged: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
  const variables = { QUOTE_TIMEOUT_MS: '2000', PRICE_CACHE_MS: '60000' }
  const service = await startService(chain, variables, { clock: { ...systemClock, now: () => NOW_MS }, log })
  const ada = await startSolver(chain, solverAccounts[0])
  const bob = await startSolver(chain, solverAccounts[1])
  await ada.register(service, 'Ada')
  await bob.register(service, 'Bob')

  let lastAmount = 1000
  /** A swap that has not been asked before. */
  function newSwap() {
    const { inputToken, outputToken } = quoteRequest(chain)
    return { inputToken, outputToken, orderType: 'EXACT_INPUT', amount: String(++lastAmount) }
  }

  return {
    chain,
    service,
    ada,
    bob,
    /** Every line of the log. */
    logged,
    newSwap,
    /** Asks for a price. */
    ask: (swap: object = newSwap()) => service.post(`/v1/${chain.chainId}/price`, swap),
    askForQuote: () => service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain)),
    readRecord: (id: unknown) => service.get(`/v1/${chain.chainId}/quote/${id}`),
    /** The requests for prices that ended in this way. */
    counted: (outcome: string) => service.metric('aggregator_prices_total', { outcome }),
    /** Has both solvers reply as at the start. */
    reset(): void {
      ada.behave(honest({ output: '3000', input: '7000' }))
      bob.behave(honest({ output: '2000', input: '5000' }))
    },
    async close(): Promise<void> {
      await service.close()
      await Promise.all([ada.close(), bob.close()])
      await chain.stop()
    },
  }
}
