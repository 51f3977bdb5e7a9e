import {
  limitsOf,
  QuoteVerificationError,
  readSettlement,
  type SettlementTerms,
  type SignedQuote,
  verifyQuote,
} from '@quote-aggregator/client'
import fc from 'fast-check'
import { type Client, createPublicClient, custom, type Hex, http, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { MIN_ORDER } from '../../../packages/cli/src/devnet/deploy.js'
import { revertOf } from '../../support/chain/contract-calls.js'
import {
  BOND,
  type Fixture,
  otherSolver,
  RESERVE,
  solver,
  startSettlement,
  stranger,
  user,
} from '../../support/chain/settlement.js'
import type { ServiceQuote } from '../../support/chain/signed-quote.js'

/** The largest output that a free bond covers: 5% of it, rounded down, is the bond. */
const coveredBy = (freeBond: bigint) => freeBond * 20n + 19n
const USED_NONCE = 2n ** 255n
/** The error of the contract for each problem. */
const ERRORS: Readonly<Record<string, string>> = {
  bond_too_small: 'InsufficientBond',
  below_minimum_order: 'OrderBelowMinimum',
  nonce_used: 'NonceAlreadyUsed',
  output_chain_mismatch: 'WrongOutputChain',
  solver_not_registered: 'SolverNotRegistered',
}

let chain: Fixture
let terms: SettlementTerms

beforeAll(async () => {
  chain = await startSettlement()
  terms = await readSettlement(clientOf(), chain.contracts.settlement)
  await chain.send(solver, 'cancelNonce', [USED_NONCE])
})
afterAll(() => chain?.stop())

/** A client of the user's own node. */
function clientOf(changeCall: (data: Hex) => Hex = (data) => data) {
  const node = createPublicClient({ transport: http(chain.client.transport.url) })
  const request = ({ method, params }: { method: string; params: never }) => {
    const [call, ...others] = (params ?? []) as [{ data: Hex }]
    const changed = method === 'eth_call' ? [{ ...call, data: changeCall(call.data) }, ...others] : params
    return node.request({ method, params: changed } as never)
  }
  return createPublicClient({ transport: custom({ request }) })
}

async function offerOf(changes: Partial<ServiceQuote> = {}, signer = solver) {
  const signed = await chain.signedQuote({ ...changes, solver: signer.address }, signer)
  const { orderType, outputChainId, ...others } = signed.quote
  const quote = {
    ...others,
    orderType: orderType === 0 ? 'EXACT_INPUT' : 'EXACT_OUTPUT',
    outputChainId: Number(outputChainId),
  } as const
  return { signed, offer: { ...signed, quote } satisfies SignedQuote }
}

async function problemsOf(offer: SignedQuote, client: Client = terms.client): Promise<readonly string[]> {
  try {
    await verifyQuote(offer, { ...terms, client, limits: limitsOf(offer.quote), now: chain.startTime })
    return []
  } catch (error) {
    if (!(error instanceof QuoteVerificationError)) throw error
    return error.problems
  }
}

/** The error by which the contract would refuse the user's deposit in the latest block; undefined when it would take it. */
async function refusalOf({ quote, signature }: { quote: ServiceQuote; signature: Hex }): Promise<unknown> {
  const call = { address: chain.contracts.settlement, abi: settlementAbi, functionName: 'deposit' } as const
  const reverted = await revertOf(
    chain.client.simulateContract({ ...call, args: [quote, signature], account: user.address }),
  )
  return reverted?.[0]
}

/** States of a solver's bond, each with what is free of it. */
const STATES: readonly [name: string, freeBond: bigint, reach: () => Promise<unknown>][] = [
  ['free', BOND, async () => {}],
  ['partly reserved', BOND - RESERVE, () => chain.depositedQuote()],
  ['partly unstaking', BOND - 400_000000n, () => chain.send(solver, 'requestUnstake', [400_000000n])],
  [
    'reserved and unstaking',
    BOND - RESERVE - 400_000000n,
    async () => {
      await chain.depositedQuote()
      await chain.send(solver, 'requestUnstake', [400_000000n])
    },
  ],
  ['all unstaking', 0n, () => chain.send(solver, 'requestUnstake', [BOND])],
]

describe.each(STATES)('with a bond that is %s', (_, freeBond, reach) => {
  beforeAll(reach)
  afterAll(async () => {
    await chain.reset()
    await chain.send(solver, 'cancelNonce', [USED_NONCE])
  })

  it('verifyQuote accepts exactly what deposit accepts', async () => {
    const bound = coveredBy(freeBond)
    const outputAmount = fc.oneof(
      fc.constantFrom(1n, MIN_ORDER - 1n, MIN_ORDER, bound, bound + 1n, 2n ** 256n - 1n),
      fc.bigInt({ min: 1n, max: 2n * bound }),
      fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }),
    )
    const drawn = fc.record({
      outputAmount,
      isNonceUsed: fc.boolean(),
      outputChainId: fc.constantFrom(BigInt(chain.chainId), BigInt(chain.chainId), 1n),
      signer: fc.constantFrom(solver, solver, solver, otherSolver, stranger),
    })
    const outcomes = new Set<unknown>()
    const property = fc.asyncProperty(drawn, async ({ outputAmount, isNonceUsed, outputChainId, signer }) => {
      const changes = { outputAmount, outputChainId, ...(isNonceUsed ? { nonce: USED_NONCE } : {}) }
      const { signed, offer } = await offerOf(changes, signer)
      const [problems, refusal] = await Promise.all([problemsOf(offer), refusalOf(signed)])
      outcomes.add(refusal)
      const errors = problems.map((problem) => ERRORS[problem])
      expect(errors.length > 0, `${problems} and ${refusal}`).toBe(refusal !== undefined)
      // What an offer says itself is judged before the state of the contract.
      if (refusal !== undefined) expect(errors).toContain(outputChainId === 1n ? 'WrongOutputChain' : refusal)
    })
    await fc.assert(property, { seed: 20_261_121, numRuns: 60 })
    // With no bond, only the solver beside has offers that are taken.
    expect([...outcomes]).toEqual(expect.arrayContaining([undefined, ...Object.values(ERRORS)]))
  })
})

it('verifyQuote leaves out the checks whose views the contract does not have', async () => {
  const without = (...names: string[]) => {
    const selectors = names.map((name) => toFunctionSelector(`${name}()`))
    return clientOf((data) => (selectors.includes(data) ? '0xdeadbeef' : data))
  }
  const { offer: unbacked } = await offerOf({ outputAmount: coveredBy(BOND) + 1n })
  const { offer: small } = await offerOf({ outputAmount: MIN_ORDER - 1n })
  expect(await problemsOf(unbacked, without('BOND_RESERVATION_BPS'))).toEqual([])
  expect(await problemsOf(unbacked, without('MIN_ORDER'))).toEqual(['bond_too_small'])
  expect(await problemsOf(small, without('MIN_ORDER'))).toEqual([])
  expect(await problemsOf(small, without('BOND_RESERVATION_BPS'))).toEqual(['below_minimum_order'])
})

it('verifyQuote asks the node once when the client batches, and throws when the node does not answer', async () => {
  const { offer } = await offerOf()
  const requests: unknown[] = []
  const onFetchRequest = async (request: Request) => void requests.push(await request.json())
  const url = chain.client.transport.url
  const batching = createPublicClient({ transport: http(url, { batch: true, onFetchRequest }) })
  expect(await problemsOf(offer, batching)).toEqual([])
  expect(requests.map((calls) => (calls as unknown[]).length)).toEqual([6])
  const away = createPublicClient({ transport: http('http://127.0.0.1:9', { retryCount: 0 }) })
  await expect(problemsOf(offer, away)).rejects.toThrow(/could not be read: fetch failed/)
})
