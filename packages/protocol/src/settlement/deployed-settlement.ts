import {
  type AbiFunction,
  type AbiParameter,
  type ContractFunctionArgs,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
  parseAbiItem,
  toEventSelector,
} from 'viem'
import { InconsistentAnswerError } from '../node/parse-blocks.js'
import type { EventWithPosition } from '../orders/block.js'
import type { OrderEvent } from '../orders/event.js'
import { ORDER_STATES, type Order } from '../orders/order.js'
import { QUOTE_MEMBERS, type Quote, toContractQuote } from '../quotes/quote.js'
import type { Bond } from '../solvers/solver.js'
import { type Address, type Hex, lowerCase } from '../values/hex.js'
import {
  type DecodedLogs,
  type NodeLog,
  type SolverNonce,
  type TypedDataDomain,
  UNKNOWN_TIME,
  type View,
} from './settlement.js'

// The ABI of deployed settlement contracts and of the reference contract: a module of the shape `Settlement`. Calls at the
// top of the module are marked as pure, so that bundlers leave out what an app does not use.

const SIGNED_QUOTE = [
  { name: 'quote', type: 'tuple', components: QUOTE_MEMBERS },
  { name: 'signature', type: 'bytes' },
] as const

const DOMAIN = /* @__PURE__ */ parseAbiItem(
  'function eip712Domain() view returns (bytes1, string, string, uint256, address, bytes32, uint256[])',
)
const CODE_HASH = /* @__PURE__ */ parseAbiItem(
  'function DEPOSIT_PROXY_CREATION_CODE_HASH() view returns (bytes32)',
)
const SOLVERS = /* @__PURE__ */ parseAbiItem(
  'function solvers(address) view returns (uint256, uint256, uint256, uint40, bool)',
)
const ORDERS = /* @__PURE__ */ parseAbiItem(
  'function orders(bytes32) view returns (address, address, address, uint256, address, uint256, uint256, uint32, uint8)',
)
const NONCE_USE = /* @__PURE__ */ parseAbiItem('function isNonceUsed(address, uint256) view returns (bool)')
const BOND_TOKEN = /* @__PURE__ */ parseAbiItem('function BOND_TOKEN() view returns (address)')
const DEPOSIT_ADDRESS = {
  type: 'function',
  name: 'computeDepositAddress',
  stateMutability: 'view',
  inputs: SIGNED_QUOTE,
  outputs: [{ name: '', type: 'address' }],
} as const
const RESERVATION = /* @__PURE__ */ parseAbiItem('function BOND_RESERVATION_BPS() view returns (uint256)')
const MIN_ORDER = /* @__PURE__ */ parseAbiItem('function MIN_ORDER() view returns (uint256)')
const MIN_BOND = /* @__PURE__ */ parseAbiItem('function MIN_BOND() view returns (uint256)')

const REFUND = /* @__PURE__ */ callItem('refund', [{ name: 'orderId', type: 'bytes32' }])
const REFUND_ADDRESS_DEPOSIT = /* @__PURE__ */ callItem('refundAddressDeposit', SIGNED_QUOTE)

export const CALLS_ABI = [
  /* @__PURE__ */ callItem('deposit', SIGNED_QUOTE),
  /* @__PURE__ */ callItem('settle', SIGNED_QUOTE),
  REFUND_ADDRESS_DEPOSIT,
  /* @__PURE__ */ callItem('fill', [{ name: 'orderId', type: 'bytes32' }]),
  REFUND,
  /* @__PURE__ */ callItem('cancelNonce', [{ name: 'nonce', type: 'uint256' }]),
  /* @__PURE__ */ callItem('cancelNonces', [
    { name: 'word', type: 'uint248' },
    { name: 'mask', type: 'uint256' },
  ]),
] as const

export const REFUND_CALLS_ABI = [
  REFUND,
  REFUND_ADDRESS_DEPOSIT,
  /* @__PURE__ */ recoveryItem('recoverFromProxy'),
  /* @__PURE__ */ recoveryItem('deployAndRecover'),
  /* @__PURE__ */ callItem('withdrawExcess', [{ name: 'token', type: 'address' }]),
] as const

export const BOND_CALLS_ABI = [
  /* @__PURE__ */ callItem('registerSolver', [{ name: 'amount', type: 'uint256' }]),
  /* @__PURE__ */ callItem('addBond', [{ name: 'amount', type: 'uint256' }]),
  /* @__PURE__ */ callItem('requestUnstake', [{ name: 'amount', type: 'uint256' }]),
  /* @__PURE__ */ callItem('executeUnstake', []),
] as const

function callItem<const N extends string, const I extends readonly AbiParameter[]>(name: N, inputs: I) {
  return { type: 'function', name, stateMutability: 'nonpayable', inputs, outputs: [] } as const
}

function recoveryItem<const N extends string>(name: N) {
  return callItem(name, [...SIGNED_QUOTE, { name: 'token', type: 'address' }])
}

function view<const I extends AbiFunction, T>(
  item: I,
  args: ContractFunctionArgs<readonly [I], 'view'>,
  toValue: (answer: ContractFunctionReturnType<readonly [I], 'view'>) => T,
): View<T> {
  const abi = [item]
  return {
    name: item.name,
    data: encodeFunctionData({ abi, args } as never),
    decode: (data) => toValue(decodeFunctionResult({ abi, data } as never) as never),
  }
}

/** With the members that the contract uses: bit n of the fields stands for member n (ERC-5267). */
export const domain = (): View<TypedDataDomain> =>
  view(DOMAIN, [], ([fields, name, version, chainId, verifyingContract, salt]) => {
    const members = Object.entries({ name, version, chainId, verifyingContract, salt })
    return Object.fromEntries(members.filter((_, index) => Number(fields) & (1 << index)))
  })
export const depositProxyCodeHash = () => view(CODE_HASH, [], lowerCase)
export const bondToken = () => view(BOND_TOKEN, [], lowerCase)
export const bondReservationBps = () => view(RESERVATION, [], BigInt)
export const minOrder = () => view(MIN_ORDER, [], BigInt)
export const minBond = () => view(MIN_BOND, [], BigInt)
export const nonceUse = (solver: Address, nonce: bigint) =>
  view(NONCE_USE, [lowerCase(solver), nonce], Boolean)
export const depositAddress = (quote: Quote, signature: Hex) =>
  view(DEPOSIT_ADDRESS, [toContractQuote(quote), signature], lowerCase)

export const bond = (solver: Address): View<Bond> =>
  view(SOLVERS, [lowerCase(solver)], ([total, reserved, unstaking, unlocksAt, registered]) => ({
    registered,
    total,
    reserved,
    unstaking,
    unlocksAt,
  }))

export const order = (chainId: number, orderId: Hex): View<Order> =>
  view(ORDERS, [orderId], (answer) => {
    const [user, solver, inputToken, inputAmount, outputToken, outputAmount, outputChainId, fillDeadline] =
      answer
    const state = ORDER_STATES[answer[8]]
    if (state === undefined) throw new Error(`order state ${answer[8]} is unknown`)
    if (state === 'NONE') return { state, chainId, orderId }
    if (outputChainId > Number.MAX_SAFE_INTEGER) throw new Error('an output chain is no chain id')
    return {
      state,
      chainId,
      orderId,
      user: lowerCase(user),
      solver: lowerCase(solver),
      inputToken: lowerCase(inputToken),
      inputAmount,
      outputToken: lowerCase(outputToken),
      outputAmount,
      outputChainId: Number(outputChainId),
      fillDeadline,
    }
  })

export const depositData = (quote: Quote, signature: Hex): Hex =>
  encodeFunctionData({ abi: CALLS_ABI, functionName: 'deposit', args: [toContractQuote(quote), signature] })

/** The events that are read, those that name their solver third first. */
const EVENTS = [
  'Deposited(bytes32,address,address,address,uint256,address,uint256,uint32)',
  'Settled(bytes32,address,address)',
  'Refunded(bytes32,address,uint256,uint256)',
  'NonceCancelled(address,uint256)',
  'SolverRegistered(address,uint256)',
  'BondAdded(address,uint256)',
  'UnstakeRequested(address,uint256,uint40)',
  'UnstakeCancelled(address)',
  'UnstakeExecuted(address,uint256)',
  'TokensRecovered(bytes32,address,address)',
  'ExcessDeposit(bytes32,address,address,uint256)',
]
const BOND_EVENT = /^(SolverRegistered|BondAdded|Unstake)/
/** Events of deployed contracts. They are no events of the API: the order is read again. */
const ORDER_CHANGE = /^(TokensRecovered|ExcessDeposit)/
const WORD_DIGITS = 64
export const READ_TOPICS: readonly Hex[] = /* @__PURE__ */ EVENTS.map((event) => toEventSelector(event))

export const solverTopics = (solver: Address): readonly (Hex | Hex[] | null)[] => [
  READ_TOPICS.slice(0, 2),
  null,
  null,
  `0x${lowerCase(solver).slice(2).padStart(WORD_DIGITS, '0')}`,
]

/** An event's name by the first topic of its log. */
function nameOf(topic: Hex | undefined): string | undefined {
  return EVENTS[READ_TOPICS.indexOf(topic ?? '0x')]?.split('(')[0]
}

export function decodeLogs(chainId: number, logs: readonly NodeLog[]): DecodedLogs {
  const events: EventWithPosition[] = []
  const bondedSolvers = new Set<Address>()
  const cancelledNonces: SolverNonce[] = []
  const changedOrders: Hex[] = []
  for (const log of logs) {
    const [topic, firstTopic = '0x'] = log.topics
    const name = nameOf(topic)
    if (name !== undefined && BOND_EVENT.test(name)) bondedSolvers.add(addressOf(firstTopic))
    if (name !== undefined && ORDER_CHANGE.test(name)) changedOrders.push(lowerCase(firstTopic))
    if (name === 'NonceCancelled') {
      const [nonce] = words(log.data, 1)
      cancelledNonces.push({ solver: addressOf(firstTopic), nonce: BigInt(nonce) })
    }
    const event = readOrderEvent(chainId, name, log)
    if (event !== undefined) events.push({ event, blockHash: log.blockHash })
  }
  return { events: events.sort(byPosition), bondedSolvers, cancelledNonces, changedOrders }
}

function byPosition(a: EventWithPosition, b: EventWithPosition): number {
  return a.event.blockNumber - b.event.blockNumber || a.event.logIndex - b.event.logIndex
}

function readOrderEvent(chainId: number, name: string | undefined, log: NodeLog): OrderEvent | undefined {
  const [, orderId = '0x', user = '0x', solver = '0x'] = log.topics
  const base = {
    chainId,
    orderId,
    user: addressOf(user),
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
    transactionHash: log.transactionHash,
    blockTime: log.blockTimestamp ?? UNKNOWN_TIME,
  }
  switch (name) {
    case 'Deposited': {
      const [inputToken, inputAmount, outputToken, outputAmount, fillDeadline] = words(log.data, 5)
      return {
        type: 'Deposited',
        ...base,
        solver: addressOf(solver),
        inputToken: addressOf(inputToken),
        inputAmount: BigInt(inputAmount),
        outputToken: addressOf(outputToken),
        outputAmount: BigInt(outputAmount),
        fillDeadline: Number(fillDeadline),
      }
    }
    case 'Settled':
      words(log.data, 0)
      return { type: 'Settled', ...base, solver: addressOf(solver) }
    case 'Refunded': {
      const [inputAmount, bondSlashed] = words(log.data, 2)
      const amounts = { inputAmount: BigInt(inputAmount), bondSlashed: BigInt(bondSlashed) }
      return { type: 'Refunded', ...base, solver: undefined, ...amounts }
    }
  }
  return undefined
}

/** The members of an event that are not indexed. Each of them fills one word of 32 bytes. */
function words<N extends keyof Words>(data: Hex, count: N): Words[N] {
  if (data.length !== 2 + count * WORD_DIGITS)
    throw new InconsistentAnswerError(`the data of an event has ${data.length - 2} hex digits`, 'data')
  const starts = Array.from({ length: count }, (_, index) => 2 + index * WORD_DIGITS)
  return starts.map((start) => `0x${data.slice(start, start + WORD_DIGITS)}`) as unknown as Words[N]
}

interface Words {
  readonly 0: []
  readonly 1: [Hex]
  readonly 2: [Hex, Hex]
  readonly 5: [Hex, Hex, Hex, Hex, Hex]
}

/** The last 20 bytes of a word. */
function addressOf(word: Hex): Address {
  return lowerCase(`0x${word.slice(-40)}`)
}
