import { toFunctionSelector } from 'viem'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { deferred } from '../../support/deferred.js'
import type { Asked } from '../../support/model-chain/model-node.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, startSolver } from '../../support/solvers/solver.js'

export type VerifyingService = Awaited<ReturnType<typeof startVerifyingService>>

/** What the solvers offer, best first, in the token's smallest unit. */
export const OUTPUTS = ['3000', '2000', '1000']

const CANCELLED_NONCE = 10n ** 30n
const [IS_NONCE_USED, DEPOSIT] = [selectorOf('isNonceUsed'), selectorOf('deposit')]

function selectorOf(name: string): string {
  return toFunctionSelector(
    settlementAbi.find((item) => item.type === 'function' && item.name === name) as never,
  )
}

const withCancelledNonce =
  (outputAmount: string): Behaviour =>
  async (ask, { quoteFor, sign }) =>
    sign({ ...quoteFor(ask), outputAmount, nonce: String(CANCELLED_NONCE) })

function calls({ method, params = [] }: Asked, selector: string): boolean {
  const [transaction] = params as { data?: string }[]
  return method === 'eth_call' && transaction?.data?.startsWith(selector) === true
}

/** A chain, three solvers, and a service that may verify all offers. Its node hides which nonces are used. */
export async function startVerifyingService() {
  const chain = await startModelChain({ bonded: 3 })
  const accounts = solverAccounts.slice(0, 3)
  const { send } = createCalls(chain.devnet, chain.contracts.settlement)
  for (const account of accounts) await send(account, 'cancelNonce', [CANCELLED_NONCE])
  const node = await chain.openNode()
  let verifications = 0
  let isHeld = (_call: Asked) => false
  let gate = deferred()
  // Only a call of `deposit` tells of a used nonce.
  node.intercept(async (call, answer) => {
    if (calls(call, IS_NONCE_USED)) return `0x${'00'.repeat(32)}`
    if (calls(call, DEPOSIT)) {
      verifications++
      if (isHeld(call)) await gate.opened
    }
    return answer()
  })
  const solvers = await Promise.all(accounts.map((account) => startSolver(chain, account)))
  const services: TestService[] = []

  /** Starts another service with the same solvers. */
  async function start(environment: Record<string, string> = {}): Promise<TestService> {
    const rpcVariable = { [`RPC_URL_${chain.chainId}`]: node.url }
    const service = await startService(chain, { VERIFY_MAX: 'all', ...rpcVariable, ...environment })
    services.push(service)
    for (const solver of solvers) await solver.register(service)
    return service
  }

  /** Lets the solvers make their offers. The contract refuses those of the first `refused` solvers. */
  function behave({ refused = 0 } = {}): void {
    for (const [index, solver] of solvers.entries()) {
      const output = OUTPUTS[index] ?? ''
      solver.behave(index < refused ? withCancelledNonce(output) : honest({ output }))
    }
  }

  const service = await start({ VERIFY_TIMEOUT_MS: '60000' })
  return {
    chain,
    service,
    solvers,
    start,
    behave,
    ask: (changes: object, at = service) =>
      at.post(`/v1/${chain.chainId}/quote`, { ...quoteRequest(chain), ...changes }),
    /** Forgets what the last test did. */
    reset() {
      behave()
      isHeld = () => false
      verifications = 0
    },
    /** Holds all verifications, or those at a block with a number, which are checks of offers. @returns a function that lets them pass */
    holdVerifications({ ofChecks = false } = {}): () => void {
      gate = deferred()
      isHeld = ({ params }) => !(ofChecks && params?.[1] === 'latest')
      return gate.open
    },
    verifications: () => verifications,
    async close() {
      for (const started of services) await started.close()
      for (const solver of solvers) await solver.close()
      await node.stop()
      await chain.stop()
    },
  }
}

/** The outputs of the offers in a response, best first, with their marks. */
// biome-ignore lint/suspicious/noExplicitAny: the response is of any of the protocols
export function marksOf(response: any): [string, boolean | undefined][] {
  return [response, ...response.alternativeQuotes].map(({ quote, verified }) => [
    quote.outputAmount,
    verified,
  ])
}
