import { type AbiParameter, decodeAbiParameters, toEventSelector } from 'viem'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import type { PlacedEvent } from '../domain/block.js'
import type { OrderEvent } from '../domain/event.js'
import type { Address, Hex } from '../domain/hex.js'

/** A log as JSON-RPC has it. */
export interface RawLog {
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly logIndex: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** What logs of the settlement contract say. */
export interface ContractNews {
  /** In the order of the chain. */
  readonly events: readonly PlacedEvent[]
  /** Whether anything among it changes a solver's bond. */
  readonly touchesBonds: boolean
}

type EventItem = Extract<(typeof settlementAbi)[number], { type: 'event' }>

const EVENT_ITEMS = settlementAbi.filter((item): item is EventItem => item.type === 'event')
const NAMES = new Map(EVENT_ITEMS.map((item) => [toEventSelector(item), item.name]))
const DEPOSITED_DATA = dataOf('Deposited')
const REFUNDED_DATA = dataOf('Refunded')
const BOND_EVENTS = new Set<string | undefined>([
  'SolverRegistered',
  'BondAdded',
  'UnstakeRequested',
  'UnstakeCancelled',
  'UnstakeExecuted',
  'Refunded',
])

/**
 * Reads what logs of the settlement contract say; events that are not settlement.md's are left out.
 * @throws viem's errors when data is not what its event's name promises
 */
export function readLogs(chainId: number, logs: readonly RawLog[]): ContractNews {
  const events: PlacedEvent[] = []
  let touchesBonds = false
  for (const log of logs) {
    const name = NAMES.get(log.topics[0] ?? '0x')
    touchesBonds ||= BOND_EVENTS.has(name)
    const event = readOrderEvent(chainId, name, log)
    if (event !== undefined) events.push({ event, blockHash: log.blockHash, logIndex: Number(log.logIndex) })
  }
  return { events: events.sort(byPlace), touchesBonds }
}

function byPlace(a: PlacedEvent, b: PlacedEvent): number {
  return a.event.blockNumber - b.event.blockNumber || a.logIndex - b.logIndex
}

function readOrderEvent(chainId: number, name: string | undefined, log: RawLog): OrderEvent | undefined {
  const [, orderId = '0x', user = '0x', solver = '0x'] = log.topics
  const base = { chainId, orderId, user: addressOf(user), blockNumber: Number(log.blockNumber) }
  switch (name) {
    case 'Deposited': {
      const values = decodeAbiParameters(DEPOSITED_DATA, log.data)
      const [inputToken, inputAmount, outputToken, outputAmount, fillDeadline] = values as DepositedData
      return {
        type: 'Deposited',
        ...base,
        solver: addressOf(solver),
        inputToken: lowerCase(inputToken),
        inputAmount,
        outputToken: lowerCase(outputToken),
        outputAmount,
        fillDeadline,
      }
    }
    case 'Settled':
      return { type: 'Settled', ...base, solver: addressOf(solver) }
    case 'Refunded': {
      const [inputAmount, bondSlashed] = decodeAbiParameters(REFUNDED_DATA, log.data) as RefundedData
      return { type: 'Refunded', ...base, solver: undefined, inputAmount, bondSlashed }
    }
  }
  return undefined
}

type DepositedData = [Address, bigint, Address, bigint, number]
type RefundedData = [bigint, bigint]

function dataOf(name: EventItem['name']): AbiParameter[] {
  const inputs: readonly (AbiParameter & { readonly indexed?: boolean })[] =
    EVENT_ITEMS.find((item) => item.name === name)?.inputs ?? []
  return inputs.filter(({ indexed }) => !indexed)
}

/** The last 20 bytes of a topic. */
function addressOf(topic: Hex): Address {
  return `0x${topic.slice(-40)}`
}

function lowerCase(address: Address): Address {
  return address.toLowerCase() as Address
}
