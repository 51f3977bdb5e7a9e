import fc from 'fast-check'
import { expect, it } from 'vitest'
import { settlementAbi as abi } from '../../../gen/contracts/settlement.js'
import { MIN_ORDER } from '../../../packages/cli/src/devnet/deploy.js'
import { freeBondOf } from '../../../packages/protocol/src/solvers/solver.js'
import { revertOf } from '../../support/chain/contract-calls.js'
import { solver, startSettlement, user } from '../../support/chain/settlement.js'
import { eventually } from '../../support/eventually.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { contractStruct, startSolver, type WireReply } from '../../support/solvers/solver.js'

const SEED = Number(process.env.OFFER_SEED ?? 20_261_121)
const RUNS = 12
const UINT256 = 2n ** 256n - 1n
/** What the contract must have said, or the seed proves little. */
const VERDICTS = ['taken', 'InsufficientBond', 'OrderBelowMinimum', 'WrongOutputChain']

const chain = await shared(startSettlement())
const service = await shared(
  startService(chain, { [`POLL_INTERVAL_MS_${chain.chainId}`]: '20', MIN_SOLVER_BOND: '0' }),
)
const maker = await shared(startSolver(chain, solver))
await maker.register(service)

/** A part of the free bond, which an order reserves or the solver takes out; some are refused, and change nothing. */
const change = fc.record({
  kind: fc.constantFrom('deposit' as const, 'deposit' as const, 'unstake' as const, 'stay' as const),
  percent: fc.integer({ min: 5, max: 95 }),
})
/** An output near a limit of the contract, or any other one. */
const offer = fc.record({
  output: fc.oneof(
    fc.record({
      near: fc.constantFrom('bond' as const, 'minimum' as const),
      by: fc.oneof(fc.constantFrom(-1n, 0n, 1n), fc.bigInt({ min: -21n, max: 21n })),
    }),
    fc.record({ near: fc.constant('nothing' as const), by: fc.bigInt({ min: 1n, max: UINT256 }) }),
  ),
  outputChainId: fc.constantFrom(chain.chainId, chain.chainId, chain.chainId, 10),
  orderType: fc.constantFrom('EXACT_INPUT' as const, 'EXACT_OUTPUT' as const),
})
type Offer = typeof offer extends fc.Arbitrary<infer T> ? T : never

let nonces = 1_000_000n

async function freeBond(): Promise<bigint> {
  const [total, reserved, unstaking, , registered] = await chain.view.solvers([solver.address])
  return freeBondOf({ registered, total, reserved, unstaking })
}

async function make({
  kind,
  percent,
}: typeof change extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const part = ((await freeBond()) * BigInt(percent)) / 100n
  if (kind === 'deposit')
    await revertOf(chain.depositedQuote({ inputAmount: 1n, outputAmount: part * 20n, nonce: nonces++ }))
  if (kind === 'unstake') await revertOf(chain.send(solver, 'requestUnstake', [part / 4n + 1n]))
}
/** The free bond at the last block, when the service knows it too. */
async function untilServiceKnows(): Promise<bigint> {
  const [block, free] = [Number(await chain.client.getBlockNumber()), await freeBond()]
  await eventually(
    async () => [
      await service.metric('aggregator_chain_event_block', {}),
      await service.metric('aggregator_solver_free_bond', {}),
    ],
    ([seen, known]) => Number(seen) >= block && known === Number(free),
  )
  return free
}

/** Has the solver answer a request with an offer. @returns it, and whether the service passes it on */
async function propose({ orderType, outputChainId }: Offer, amount: bigint) {
  let signed: WireReply | undefined
  maker.behave(async (asked, { quoteFor, sign }) => {
    const inputAmount = orderType === 'EXACT_INPUT' ? asked.amount : '1000'
    const terms = { inputAmount, outputAmount: `${amount}`, outputChainId, nonce: `${nonces++}` }
    signed = await sign({ ...quoteFor(asked), ...terms })
    return signed
  })
  const { body } = await service.post(`/v1/${chain.chainId}/quote`, {
    ...quoteRequest(chain),
    userAddress: user.address,
    orderType,
    amount: orderType === 'EXACT_INPUT' ? '1000' : `${amount}`,
    verify: 'off',
  })
  if (signed === undefined) throw new Error(`the solver was not asked: ${JSON.stringify(body)}`)
  return { signed, isReturned: body.quote !== undefined }
}

it('the service returns exactly the offers that the contract takes, whatever the bond is', async () => {
  const verdicts = new Set<string>()
  const property = fc.asyncProperty(
    change,
    fc.array(offer, { minLength: 4, maxLength: 8 }),
    async (each, offers) => {
      await make(each)
      const free = await untilServiceKnows()
      const edges = { bond: free * 20n, minimum: MIN_ORDER, nothing: 0n }
      for (const terms of offers) {
        const amount = edges[terms.output.near] + terms.output.by
        const { signed, isReturned } = await propose(terms, amount < 1n ? 1n : amount)
        const args = [contractStruct(signed.quote), signed.signature] as const
        const call = { address: chain.contracts.settlement, account: user, functionName: 'deposit' } as const
        const [verdict = 'taken'] =
          (await revertOf(chain.client.simulateContract({ ...call, abi, args }))) ?? []
        verdicts.add(String(verdict))
        expect({ verdict, isReturned, terms, free }).toMatchObject({ isReturned: verdict === 'taken' })
      }
    },
  )
  await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true })
  expect([...verdicts]).toEqual(expect.arrayContaining(VERDICTS))
})
