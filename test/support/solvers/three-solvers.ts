import { onTestFinished } from 'vitest'
import type { AppOverrides } from '../../../src/app/app.js'
import { solverAccounts, type TestChain } from '../chain/chain.js'
import { deferred } from '../deferred.js'
import { startService, type TestService } from '../service/service.js'
import { quoteRequest } from './quote-request.js'
import { type Behaviour, honest, startSolver, type TestSolver } from './solver.js'

export const QUOTE_TIMEOUT_MS = 500

/** Lets the service see its clients. */
export const WITH_PROXY = { TRUST_PROXY: '1' }

const [faultyAccount, steadyAccount, otherAccount] = solverAccounts
const NAMES: Record<string, string> = {
  [faultyAccount.address]: 'faulty',
  [steadyAccount.address]: 'steady',
  [otherAccount.address]: 'other',
}

/** What each solver offers while it is healthy: the faulty one offers most. */
export const healthyFaulty = honest({ output: '3000' })
const healthySteady = honest({ output: '2000' })
const healthyOther = honest({ output: '1000' })

/** Accepts the request and never answers. */
export const hang: Behaviour = async () => undefined

/** Answers each request with this status. */
export function answerStatus(status: number): Behaviour {
  return async (_ask, _solver, { response }) => void response.writeHead(status).end('{}')
}

/** Accepts requests and holds its valid replies until it is released. */
export function holdBack() {
  const { opened, open } = deferred()
  const behaviour: Behaviour = async (...parameters) => {
    await opened
    return healthyFaulty(...parameters)
  }
  return { behaviour, letGo: open }
}

/** Three solvers that reply at first. They stop after the test. */
export async function startSolvers(chain: TestChain) {
  const faulty = await startSolver(chain, faultyAccount, healthyFaulty)
  const steady = await startSolver(chain, steadyAccount, healthySteady)
  const other = await startSolver(chain, otherAccount, healthyOther)
  onTestFinished(async () => {
    await Promise.all([faulty, steady, other].map((solver) => solver.close()))
  })
  return { faulty, steady, other }
}

/** A service with these solvers registered. It stops after the test, unless that has closed it. */
export async function startWithSolvers(
  chain: TestChain,
  solvers: readonly TestSolver[],
  environment: Record<string, string>,
  overrides: AppOverrides = {},
) {
  const service = await startService(chain, { ...WITH_PROXY, ...environment }, overrides)
  let isOpen = true
  const close = async () => {
    if (isOpen) await service.close()
    isOpen = false
  }
  onTestFinished(close)
  for (const solver of solvers) await solver.register(service)
  return { service, close, ...createView(service, chain) }
}

let clients = 0

/** The headers of a client that has not been seen before, as a proxy forwards it. */
export function fromNewClient(headers: RequestInit['headers'] = {}): RequestInit {
  clients++
  const address = `198.18.${Math.floor(clients / 250) % 250}.${clients % 250}`
  return { headers: { 'x-forwarded-for': address, ...Object.fromEntries(new Headers(headers)) } }
}

/** A service from the side of a client that requests quotes on one chain. */
export function createView(service: TestService, chain: TestChain) {
  return {
    /** One quote for a new client: the solvers with offers, best first, and the duration. */
    async quote(init: RequestInit = {}) {
      const start = performance.now()
      const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain), {
        ...init,
        ...fromNewClient(init.headers),
      })
      const offers = status === 200 ? [body, ...body.alternativeQuotes] : []
      return {
        code: body.code as string | undefined,
        offers: offers.map(({ quote }) => NAMES[quote.solver]),
        elapsedMs: performance.now() - start,
      }
    },
    /** The metrics of the faulty solver. */
    async measured() {
      const labels = { chain_id: String(chain.chainId), solver: faultyAccount.address.toLowerCase() }
      return {
        circuitOpen: await service.metric('aggregator_solver_circuit_open', labels),
        latencySeconds: await service.metric('aggregator_solver_latency_seconds', labels),
      }
    },
  }
}

/** A service with three solvers and a short timeout. */
export async function openFixture(
  chain: TestChain,
  environment: Record<string, string> = {},
  overrides: AppOverrides = {},
) {
  const solvers = await startSolvers(chain)
  const options = { QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS), ...environment }
  const market = await startWithSolvers(chain, Object.values(solvers), options, overrides)
  return { ...solvers, ...market }
}
