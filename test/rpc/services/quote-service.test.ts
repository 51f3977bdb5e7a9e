import { create } from '@bufbuild/protobuf'
import { decodeFunctionData, getAddress, type Hex, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  DepositMode,
  type GetQuoteRequest,
  GetQuoteRequestSchema,
  OrderType,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { Fields } from '../../../src/rpc/fields.js'
import type { ServiceContext } from '../../../src/rpc/services/context.js'
import { createReadQuote } from '../../../src/rpc/services/quote-service.js'
import { only } from '../../support/only.js'
import { signedQuote } from '../../support/solvers/sample-quotes.js'

type Fixed = Partial<Omit<GetQuoteRequest, '$typeName' | '$unknown'>>

const CONFIG = {
  quoteTimeoutMs: 2000,
  defaultDepositWindowSeconds: 300,
  defaultFillWindowSeconds: 120,
  verifyQuotes: 'off',
  verifyMax: 'best',
  chains: [],
}

const readerOf = (config: object, softMs = 500) =>
  createReadQuote(only<ServiceContext>({ config, deadlineTime: () => 0 }), softMs)

/** Reads some fields. @returns what a round gets of the fields about waiting, or the violations of the given ones */
function read(given: Fixed, quoteSoftTimeoutMs = 500) {
  const readQuote = readerOf(CONFIG, quoteSoftTimeoutMs)
  const fields = new Fields([])
  const message = create(GetQuoteRequestSchema, { orderType: OrderType.EXACT_INPUT, ...given })
  const { roundOptions } = readQuote(message, fields)
  const violations = fields.violations.filter(({ field }) => field in given)
  return violations.length > 0 ? violations : roundOptions.softDeadline
}

describe('the soft deadline of a quote', () => {
  it("is the instance's own by default", () => {
    expect(read({})).toEqual({ afterMs: 500, minQuotes: 1, isOwn: true })
    expect(read({ minQuotes: 3 })).toEqual({ afterMs: 500, minQuotes: 3, isOwn: true })
    expect(read({}, 0)).toBeUndefined()
  })

  it("is replaced by the caller's, of which 0 turns it off", () => {
    expect(read({ softDeadlineMs: 500 })).toEqual({ afterMs: 500, minQuotes: 1, isOwn: false })
    expect(read({ softDeadlineMs: 0 })).toBeUndefined()
  })

  it.each([
    [{ softDeadlineMs: 2001 }, 'softDeadlineMs', 'must be an integer of 0 to 2000'],
    [
      { softDeadlineMs: 0, minQuotes: 1 },
      'minQuotes',
      'must be left out when the round waits for all solvers',
    ],
  ])('rejects %o', (waiting, field, message) => {
    expect(read(waiting)).toContainEqual(expect.objectContaining({ field, message }))
  })
})

it.each([`0x${'eE'.repeat(20)}`, `0x${'00'.repeat(20)}`])(
  'the placeholder %s of the native coin is no token',
  (token) => {
    const message = "stands for the chain's own coin: give the address of its wrapped token"
    const fields = ['inputToken', 'outputToken'].map((field) => expect.objectContaining({ field, message }))
    expect(read({ inputToken: token, outputToken: token })).toEqual(expect.arrayContaining(fields))
  },
)

it.each([9n, 11n])('the chain of the input, %s, must be that of the request', (originChainId) => {
  const message = 'must equal the chain of the request, 10'
  expect(read({ chainId: 10n, originChainId })).toEqual([
    expect.objectContaining({ field: 'originChainId', message }),
  ])
  expect(read({ chainId: 10n, originChainId: 10n })).not.toEqual(expect.any(Array))
})

describe('a swap that the contract cannot settle is refused:', () => {
  const chains = [{ chainId: 10, destinationChains: [10, 8453], settlement: `0x${'5e'.repeat(20)}` }]
  const SWAP = { chainId: 10n, inputToken: `0x${'ab'.repeat(20)}`, outputToken: `0x${'cd'.repeat(20)}` }
  const unless = 'unless the operator allows others in DESTINATION_CHAINS_10'

  it.each<[string, Fixed, string, string | undefined]>([
    ['the chain itself is a destination', { destinationChainId: 10n }, 'destinationChainId', undefined],
    ['so is one that is allowed', { destinationChainId: 8453n }, 'destinationChainId', undefined],
    ['another', { destinationChainId: 1n }, 'destinationChainId', `must be 10 or 8453, ${unless}`],
    ['two tokens', {}, 'outputToken', undefined],
    [
      'one token in two cases',
      { outputToken: `0x${'AB'.repeat(20)}` },
      'outputToken',
      'must differ from inputToken',
    ],
  ])('%s', (_what, changes, field, message) => {
    const fields = new Fields([])
    readerOf({ ...CONFIG, chains })(create(GetQuoteRequestSchema, { ...SWAP, ...changes }), fields)
    expect(fields.violations.find((violation) => violation.field === field)?.message).toBe(message)
  })
})

describe('the calls of an offer', () => {
  /** The functions as docs/protocol.md and ERC-20 describe them. */
  const abi = parseAbi([
    'struct SettlementQuote { address solver; address user; address inputToken; uint256 inputAmount; address outputToken; uint256 outputAmount; uint8 orderType; uint256 outputChainId; uint32 depositDeadline; uint32 fillDeadline; uint256 nonce; }',
    'function approve(address spender, uint256 amount) returns (bool)',
    'function transfer(address to, uint256 amount) returns (bool)',
    'function deposit(SettlementQuote quote, bytes signature)',
  ])
  const settlementOf = (chainId: number) => getAddress(`0x${String(chainId).repeat(20)}`)
  const offer = signedQuote()
  const { inputAmount, ...quote } = offer.quote
  const inputToken = getAddress(quote.inputToken)

  function callsOf(chainId: number, depositMode: DepositMode) {
    const chains = [10, 11].map((id) => ({
      chainId: id,
      destinationChains: [id],
      settlement: settlementOf(id).toLowerCase(),
    }))
    const fixed = { chainId: BigInt(chainId), depositMode, includeCalls: true }
    const { toOfferMessage } = readerOf({ ...CONFIG, chains })(
      create(GetQuoteRequestSchema, fixed),
      new Fields([]),
    )
    const { calls = [], approval } = toOfferMessage(offer)
    const decoded = calls.map(({ to, value, data }) => ({
      to,
      value,
      ...decodeFunctionData({ abi, data: data as Hex }),
    }))
    return { calls: decoded, approval }
  }

  it.each([10, 11])('approve the input, and deposit on the settlement contract of chain %i', (chainId) => {
    const settlement = settlementOf(chainId)
    const deposited = expect.objectContaining({
      solver: getAddress(quote.solver),
      user: getAddress(quote.user),
      inputToken,
      inputAmount,
      outputAmount: quote.outputAmount,
      orderType: 0,
      outputChainId: BigInt(quote.outputChainId),
      nonce: quote.nonce,
    })
    expect(callsOf(chainId, DepositMode.CONTRACT)).toEqual({
      calls: [
        { to: inputToken, value: '0x0', functionName: 'approve', args: [settlement, inputAmount] },
        { to: settlement, value: '0x0', functionName: 'deposit', args: [deposited, offer.signature] },
      ],
      approval: { token: inputToken, spender: settlement, amount: String(inputAmount) },
    })
  })

  it('are one transfer to its deposit address in mode ADDRESS', () => {
    const args = [getAddress(offer.depositAddress), inputAmount]
    expect(callsOf(10, DepositMode.ADDRESS)).toEqual({
      calls: [{ to: inputToken, value: '0x0', functionName: 'transfer', args }],
      approval: undefined,
    })
  })
})
