import {
  limitsOf,
  QuoteVerificationError,
  readSettlement,
  type SettlementTerms,
  verifyQuote,
} from '@quote-aggregator/client'
import fc from 'fast-check'
import { createPublicClient, http } from 'viem'
import { expect, it } from 'vitest'
import { bondSolver, MIN_ORDER } from '../../../packages/cli/src/devnet/deploy.js'
import { type Bond, freeBondOf } from '../../../packages/protocol/src/solvers/solver.js'
import { solverAccounts, startChain } from '../../support/chain/chain.js'
import { createContractVerdict } from '../../support/chain/contract-verdict.js'
import { eventually } from '../../support/eventually.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startSolver, type WireReply } from '../../support/solvers/solver.js'

/** The seed of the actions and offers. Set the variable to try another one. */
const SEED = Number(process.env.VERDICT_SEED ?? 20_261_121)
const NUM_RUNS = 16
const MAX_MS = 40_000

/** Small enough for a metric to show it to the last unit. */
const BOND = 10_000_000000n

const [account] = solverAccounts
/** The cases that a run must reach, or the seed proves little. */
const COVERED = [
  'taken',
  'InsufficientBond',
  'OrderBelowMinimum',
  'WrongOutputChain',
  'NonceAlreadyUsed',
  'while unstaking',
  'while reserved',
]
const UINT256 = 2n ** 256n - 1n
/** The error of the contract for each problem that the client names. */
const ERRORS: Readonly<Record<string, string>> = {
  bond_too_small: 'InsufficientBond',
  below_minimum_order: 'OrderBelowMinimum',
  nonce_used: 'NonceAlreadyUsed',
  output_chain_mismatch: 'WrongOutputChain',
}

let terms: SettlementTerms

const chain = await shared(startChain({ bonded: 0 }))
await bondSolver({ ...chain.devnet, settlement: chain.contracts.settlement, solver: account }, BOND)
const contract = await createContractVerdict(chain, account)
const node = createPublicClient({ transport: http(chain.devnet.rpcUrl) })
terms = await readSettlement(node, chain.contracts.settlement)
const service = await shared(
  startService(chain, {
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '10',
    MIN_SOLVER_BOND: '0',
  }),
)
const solver = await shared(startSolver(chain, account))
await solver.register(service)

/**
 * Changes the solver's bond or its nonces. An action that the contract rejects at that moment changes
 * nothing.
 */
const action = fc.record({
  kind: fc.constantFrom(
    ...(['addBond', 'deposit', 'deposit', 'settle', 'requestUnstake', 'requestUnstake'] as const),
    ...(['fill', 'refund', 'cancelUnstake', 'cancelNonce'] as const),
  ),
  share: fc.double({ min: 0.05, max: 0.95, noNaN: true }),
})

/** An output near a limit of the contract, or any other one. */
const output = fc.oneof(
  fc.record({
    near: fc.constantFrom('bond' as const, 'minimum' as const),
    by: fc.integer({ min: -21, max: 21 }),
  }),
  fc.record({ near: fc.constant('anything' as const), by: fc.bigInt({ min: 1n, max: UINT256 }) }),
)

const offer = fc.record({
  output,
  nonce: fc.constantFrom('new' as const, 'used' as const, 'repeated' as const),
  outputChainId: fc.constantFrom(31337, 31337, 31337, 10),
  orderType: fc.constantFrom('EXACT_INPUT' as const, 'EXACT_OUTPUT' as const),
})

type Offer = typeof offer extends fc.Arbitrary<infer T> ? T : never
type Terms = Pick<Offer, 'orderType' | 'outputChainId'>

/** Waits until the service has the state of the last block: its events and the bond after them. */
async function untilServiceKnows(): Promise<Bond> {
  const [block, bond] = await Promise.all([contract.blockNumber(), contract.bond()])
  const free = freeBondOf(bond)
  await eventually(
    async () => [
      await service.metric('aggregator_chain_event_block', {}),
      await service.metric('aggregator_solver_free_bond', {}),
    ],
    ([seen, known]) => Number(seen) >= block && known === Number(free),
  )
  return bond
}

function outputAmount({ near, by }: Offer['output'], freeBond: bigint): bigint {
  const amount =
    near === 'bond' ? freeBond * 20n + BigInt(by) : near === 'minimum' ? MIN_ORDER + BigInt(by) : by
  const bounded = BigInt(amount)
  return bounded < 1n ? 1n : bounded > UINT256 ? UINT256 : bounded
}

/** Lets the solver answer a request with an offer. @returns the offer, and whether the service returns it */
async function propose(
  amount: bigint,
  nonce: bigint,
  { orderType, outputChainId }: Terms,
  verify: 'off' | 'best' = 'off',
) {
  let signed: WireReply | undefined
  solver.behave(async (params, { quoteFor, sign }) => {
    const inputAmount = orderType === 'EXACT_INPUT' ? params.amount : '1000'
    const terms = { inputAmount, outputAmount: `${amount}`, outputChainId, nonce: `${nonce}` }
    signed = await sign({ ...quoteFor(params), ...terms })
    return signed
  })
  const { body } = await service.post(`/v1/${chain.chainId}/quote`, {
    ...quoteRequest(chain),
    orderType,
    amount: orderType === 'EXACT_INPUT' ? '1000' : `${amount}`,
    depositWindow: 86_400,
    verify,
  })
  if (signed === undefined) throw new Error(`the solver was not asked: ${JSON.stringify(body)}`)
  return { signed, isReturned: body.quote !== undefined }
}

const PLAIN: Terms = { orderType: 'EXACT_INPUT', outputChainId: 31337 }
/** Used nonces that the service knows. */
const known: bigint[] = []
let repeated = 0n

/** Has the contract refuse the nonces of orders until the service knows them. Without a free bond nothing can be offered. */
async function teachUsedNonces(freeBond: bigint): Promise<void> {
  if (freeBond === 0n) return
  const unknown = contract.used.filter((nonce) => !known.includes(nonce))
  for (const nonce of unknown) {
    await propose(MIN_ORDER, nonce, PLAIN, 'best')
    await eventually(
      () => propose(MIN_ORDER, nonce, PLAIN),
      ({ isReturned }) => !isReturned,
    )
    known.push(nonce)
  }
}

function nonceOf(choice: Offer['nonce']): bigint {
  if (choice === 'repeated') return repeated
  const used = known[Math.floor(known.length / 2)]
  return choice === 'used' && used !== undefined ? used : contract.newNonce()
}

/** What the client of an app says of an offer. */
async function problemsOf(signed: WireReply): Promise<readonly string[]> {
  const offer = await contract.offerOf(signed)
  try {
    await verifyQuote(offer, { ...terms, limits: limitsOf(offer.quote) })
    return []
  } catch (error) {
    if (!(error instanceof QuoteVerificationError)) throw error
    return error.problems
  }
}

it('service and client accept exactly the offers that the contract accepts, in any state of the chain', async () => {
  repeated = contract.newNonce()
  const counts: Record<string, number> = {}
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1
  }
  const property = fc.asyncProperty(
    fc.array(action, { minLength: 1, maxLength: 4 }),
    fc.array(offer, { minLength: 4, maxLength: 10 }),
    async (actions, offers) => {
      for (const each of actions) await contract.act(each)
      const bond = await untilServiceKnows()
      const freeBond = freeBondOf(bond)
      if (bond.unstaking > 0n) count('while unstaking')
      if (bond.reserved > 0n) count('while reserved')
      await teachUsedNonces(freeBond)
      for (const drawn of offers) {
        const amount = outputAmount(drawn.output, freeBond)
        const { signed, isReturned } = await propose(amount, nonceOf(drawn.nonce), drawn)
        const [problems, [onDeposit, onSettle]] = await Promise.all([
          problemsOf(signed),
          contract.refusals(signed),
        ])
        const verdict = onDeposit ?? 'taken'
        count(verdict)
        expect(onSettle).toBe(onDeposit)
        expect({ verdict, drawn, freeBond, isReturned }).toMatchObject({ isReturned: verdict === 'taken' })
        // What an offer says itself is judged before the state of the contract.
        const refusal = drawn.outputChainId === chain.chainId ? onDeposit : 'WrongOutputChain'
        expect(problems.map((problem) => ERRORS[problem])).toEqual(
          refusal === undefined ? [] : expect.arrayContaining([refusal]),
        )
      }
    },
  )
  await fc.assert(property, {
    seed: SEED,
    numRuns: NUM_RUNS,
    interruptAfterTimeLimit: MAX_MS,
    endOnFailure: true,
  })
  console.info(`seed ${SEED}: ${JSON.stringify(counts)}`)
  for (const verdict of COVERED) expect(counts[verdict], verdict).toBeGreaterThan(0)
})
