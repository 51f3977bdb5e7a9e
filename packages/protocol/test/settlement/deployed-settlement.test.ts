import {
  type Abi,
  encodeEventTopics,
  encodeFunctionData,
  encodeFunctionResult,
  getAddress,
  type Hex,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { deployedSettlementAbi } from '../../../../gen/contracts/deployed-settlement.js'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'
import { ORDER_STATES } from '../../src/orders/order.js'
import { type Quote, toContractQuote } from '../../src/quotes/quote.js'
import * as deployed from '../../src/settlement/deployed-settlement.js'
import type { Settlement, View } from '../../src/settlement/settlement.js'

/** The module is an implementation of the interface. */
const settlement: Settlement = deployed
/** What the reference contract does not have. */
const DEPLOYED_ONLY = ['cancelNonces']

const ADDRESSES = [1, 2, 3, 4].map((digit): Hex => `0x${`${digit}a`.repeat(20)}`) as [Hex, Hex, Hex, Hex]
const [USER, SOLVER, INPUT_TOKEN, OUTPUT_TOKEN] = ADDRESSES
const WORD: Hex = `0x${'b3'.repeat(32)}`
const MAX = 2n ** 256n - 1n
const QUOTE: Quote = {
  solver: SOLVER,
  user: USER,
  inputToken: INPUT_TOKEN,
  inputAmount: MAX,
  outputToken: OUTPUT_TOKEN,
  outputAmount: 1n,
  orderType: 'EXACT_OUTPUT',
  outputChainId: 2 ** 40,
  depositDeadline: 1,
  fillDeadline: 2 ** 32 - 1,
  nonce: 7n,
}
const TERMS = { inputAmount: MAX, outputAmount: 5n, fillDeadline: 2 ** 32 - 1 }
const KNOWN_ORDER = {
  user: USER,
  solver: SOLVER,
  inputToken: INPUT_TOKEN,
  outputToken: OUTPUT_TOKEN,
  ...TERMS,
}
const orderAnswer = (chainId: bigint, state: number) => [
  ...[USER, SOLVER, INPUT_TOKEN, MAX, OUTPUT_TOKEN, 5n],
  ...[chainId, 2 ** 32 - 1, state],
]

/** The views with arguments, an answer of the contract, and what it means. */
const VIEWS: readonly [View<unknown>, readonly unknown[], unknown, unknown][] = [
  [
    settlement.domain(),
    [],
    ['0x0f', 'Ö', '2', 10n, getAddress(USER), WORD, []],
    { name: 'Ö', version: '2', chainId: 10n, verifyingContract: getAddress(USER) },
  ],
  [settlement.depositProxyCodeHash(), [], WORD, WORD],
  [
    settlement.bond(SOLVER),
    [SOLVER],
    [MAX, 2n, 3n, 4, true],
    { total: MAX, reserved: 2n, unstaking: 3n, unlocksAt: 4, registered: true },
  ],
  [
    settlement.bond(SOLVER),
    [SOLVER],
    [0n, 0n, 0n, 0, false],
    { total: 0n, reserved: 0n, unstaking: 0n, unlocksAt: 0, registered: false },
  ],
  ...ORDER_STATES.slice(1).map((state, index): [View<unknown>, readonly unknown[], unknown, unknown] => [
    settlement.order(1, WORD),
    [WORD],
    orderAnswer(2n ** 40n, index + 1),
    { state, chainId: 1, orderId: WORD, ...KNOWN_ORDER, outputChainId: 2 ** 40 },
  ]),
  [settlement.order(1, WORD), [WORD], orderAnswer(0n, 0), { state: 'NONE', chainId: 1, orderId: WORD }],
  [settlement.nonceUse(getAddress(SOLVER), MAX), [SOLVER, MAX], true, true],
  [settlement.nonceUse(SOLVER, 0n), [SOLVER, 0n], false, false],
  [settlement.depositAddress(QUOTE, '0x1234'), [toContractQuote(QUOTE), '0x1234'], USER, USER],
  [settlement.bondToken(), [], USER, USER],
  [settlement.bondReservationBps(), [], 500n, 500n],
  [settlement.minOrder(), [], MAX, MAX],
]

describe.each([
  ['the reference contract', settlementAbi as Abi, DEPLOYED_ONLY],
  ['the contract of deployed rules', deployedSettlementAbi as Abi, []],
])('the ABI is that of %s', (_contract, abi, missing) => {
  it.each(VIEWS)('in the view %o', ({ name, data, decode }, args, answer, value) => {
    expect(data).toBe(encodeFunctionData({ abi, functionName: name, args }))
    const result = encodeFunctionResult({ abi, functionName: name, result: answer } as never)
    expect(decode(result)).toEqual(value)
    expect(() => decode(result.slice(0, -2) as Hex)).toThrow()
  })

  it('in its calls', () => {
    const selectors = abi.flatMap((item) => (item.type === 'function' ? [toFunctionSelector(item)] : []))
    for (const item of deployed.CALLS_ABI)
      if (!missing.includes(item.name)) expect([item.name, ...selectors]).toContain(toFunctionSelector(item))
  })

  it('in its events', () => {
    const compiled = abi.flatMap((item) => (item.type === 'event' ? [toEventSelector(item)] : []))
    const deployedOnly = missing.length === 0 ? 0 : 2
    expect(settlement.READ_TOPICS).toHaveLength(11)
    expect(settlement.READ_TOPICS.filter((topic) => !compiled.includes(topic))).toHaveLength(deployedOnly)
    const [deposited, settled] = (['Deposited', 'Settled'] as const).map((eventName) =>
      encodeEventTopics({ abi: abi as Abi, eventName, args: { solver: SOLVER } }),
    )
    const [, ...others] = deposited ?? []
    expect(settled?.slice(1)).toEqual(others)
    expect(deployed.solverTopics(SOLVER)).toEqual([[deposited?.[0], settled?.[0]], ...others])
  })
})
